// Drawn for these pages, on a grid of 18, in the colour of the text.
const paths = {
  overview: "M2.5 9.5 9 3.5l6.5 6M4.5 8.5v6h9v-6",
  contacts: "M9 8.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM3 15.5c.6-3 3-4.5 6-4.5s5.4 1.5 6 4.5",
  segments: "M9 2.5v6.5h6.5A6.5 6.5 0 1 1 9 2.5ZM11.5 2.6a6.5 6.5 0 0 1 4 4h-4z",
  journeys:
    "M4.5 5.5a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6ZM13.5 16.1a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6ZM4.5 5.5v3c0 1.4 1 2 2 2h5c1.200 0 2 .8 2 2",
  messages: "M2.500 4.500h13v9h-13zM2.500 5l6.500 5 6.500-5",
  outbox: "M2.500 10.500 5 3.500h8l2.500 7v4h-13zM2.500 10.500H6l1 2h4l1-2h3.500",
  dead: "M9 2.500 16 15H2zM9 7v3.500M9 12.800v.1",
  templates: "M4 2.500h7l3 3v10H4zM11 2.500v3h3M6.500 8.500h5M6.500 11.500h5",
  content: "M3 3.500h5M3 3.500v10.500h4M3 8.500h4M9.500 7h5.500v3H9.500zM9.500 12.500h5.500v3H9.500z",
  bundles: "M9 2l6 2.500V9c0 3.500-2.500 6-6 7.500C5.500 15 3 12.500 3 9V4.500zM6.300 9l2 2 3.500-4",
  projections:
    "M9 6.500c3.300 0 6-.9 6-2s-2.700-2-6-2-6 .9-6 2 2.700 2 6 2ZM3 4.500v9c0 1.100 2.700 2 6 2s6-.9 6-2v-9M3 9c0 1.100 2.700 2 6 2s6-.9 6-2",
  slack: "M6.500 2.500v13M11.500 2.500v13M2.500 6.500h13M2.500 11.500h13",
  settings: "M3 5h7M14 5h1M3 13h1M8 13h7M12 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM6 15a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  menu: "M2.500 5h13M2.500 9h13M2.500 13h13",
  close: "M4 4l10 10M14 4 4 14",
  plus: "M9 3.500v11M3.500 9h11",
  search: "M8 13a5 5 0 1 0 0-10 5 5 0 0 0 0 10ZM15.500 15.500 11.700 11.700",
  undo: "M6 4 3 7l3 3M3 7h7a4 4 0 0 1 0 8H7",
  redo: "M12 4l3 3-3 3M15 7H8a4 4 0 0 0 0 8h3",
  layout: "M6.500 2.500h5v4h-5zM2.500 11.500h5v4h-5zM10.500 11.500h5v4h-5zM9 6.500v2.500M5 11.500V9h8v2.500",
  play: "M5.500 3.500v11l9-5.500z",
  pause: "M6 3.500v11M12 3.500v11",
  trash: "M3.500 5h11M7 5V3h4v2M5 5l.7 10h6.600L13 5",
  sun: "M9 12a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM9 1.500v1.500M9 15v1.500M1.500 9H3M15 9h1.500M3.700 3.700l1 1M13.300 13.300l1 1M3.700 14.300l1-1M13.300 4.700l1-1",
  moon: "M14.500 11A6 6 0 0 1 7 3.500a6 6 0 1 0 7.500 7.500Z",
  right: "m7 4 5 5-5 5",
  down: "m4 7 5 5 5-5",
  copy: "M6.500 6.500h8v8h-8zM4 11.500H3.500v-8h8V4",
  trigger: "M10 2 4 10h4.500L8 16l6-8H9.500z",
  wait: "M9 15.500a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13ZM9 5.500V9l2.500 2",
  condition: "M9 2.500 15.500 9 9 15.500 2.500 9z",
  branch: "M5 2.500v13M5 10c0-3 8-2 8-5.500M13 4.500l-2 2M13 4.500l2 2",
  update_contact: "M3 15l.5-3L11.500 4l2.500 2.500-8 8z",
  exit: "M7 3H3.500v12H7M7.500 9h8M12.500 6l3 3-3 3",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 18 18"
      aria-hidden="true"
      focusable="false"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  );
}
