// Each word stands beside its translation: [English, German].
import { everywhere } from "./everywhere";
import { contacts } from "./contacts";
import { events } from "./events";
import { journeys } from "./journeys";
import { messages } from "./messages";
import { nodes } from "./nodes";
import { problems } from "./problems";
import { publish } from "./publish";
import { segments } from "./segments";
import { start } from "./start";
import { system } from "./system";

export const pairs = {
  ...everywhere,
  ...start,
  ...contacts,
  ...events,
  ...segments,
  ...journeys,
  ...nodes,
  ...messages,
  ...problems,
  ...publish,
  ...system,
};
export type Key = keyof typeof pairs;

export const areas = {
  everywhere,
  start,
  contacts,
  events,
  segments,
  journeys,
  nodes,
  messages,
  problems,
  publish,
  system,
};
