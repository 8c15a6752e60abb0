// Small charts in SVG; the numbers behind them are told as text to whoever cannot see them.
import { useLayoutEffect, useRef, useState, type RefObject } from "react";
import { useWords } from "../i18n";

export type Point = { label: string; value: number };
export type Series = { name: string; colour: 1 | 2 | 3 | 4; points: Point[] };

const PAD = { left: 44, right: 8, top: 8, bottom: 22 };

const FIRST_WIDTH = 480;

/** As wide as there is room, so that letters keep their size. */
function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(FIRST_WIDTH);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(160, element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

/** A round number above the largest value, so that the axis reads well. */
export function niceMax(value: number): number {
  if (value <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

export function Legend({ series }: { series: Series[] }) {
  return (
    <div className="legend">
      {series.map((one) => (
        <span key={one.name}>
          <i style={{ background: `var(--chart-${one.colour})` }} />
          {one.name}
        </span>
      ))}
    </div>
  );
}

type ChartProps = { label: string; series: Series[]; height?: number };

export function LineChart({ label, series, height = 180 }: ChartProps) {
  const { number } = useWords();
  const [ref, width] = useWidth();
  const count = Math.max(...series.map((one) => one.points.length), 0);
  const top = niceMax(Math.max(0, ...series.flatMap((one) => one.points.map((point) => point.value))));
  const inner = { width: width - PAD.left - PAD.right, height: height - PAD.top - PAD.bottom };
  const x = (index: number) => PAD.left + (count < 2 ? inner.width / 2 : (index / (count - 1)) * inner.width);
  const y = (value: number) => PAD.top + inner.height * (1 - value / top);
  const labels = series[0]?.points ?? [];
  const summary = series.map((one) => `${one.name}: ${number(one.points.at(-1)?.value ?? 0)}`).join(", ");
  return (
    <div ref={ref}>
      <svg
        className="chart"
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${label}. ${summary}`}
      >
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line x1={PAD.left} x2={width - PAD.right} y1={y(top * share)} y2={y(top * share)} stroke="var(--line)" />
            <text x={PAD.left - 8} y={y(top * share) + 4} textAnchor="end">
              {number(top * share)}
            </text>
          </g>
        ))}
        {series.map((one) => (
          <Line key={one.name} series={one} x={x} y={y} />
        ))}
        {labels.length > 0 && (
          <text x={PAD.left} y={height - 4}>
            {labels[0]?.label}
          </text>
        )}
        {labels.length > 1 && (
          <text x={width - PAD.right} y={height - 4} textAnchor="end">
            {labels.at(-1)?.label}
          </text>
        )}
      </svg>
    </div>
  );
}

type LineProps = { series: Series; x: (index: number) => number; y: (value: number) => number };

function Line({ series, x, y }: LineProps) {
  const colour = `var(--chart-${series.colour})`;
  const points = series.points.map((point, index) => `${x(index).toFixed(1)},${y(point.value).toFixed(1)}`);
  const last = series.points.at(-1);
  return (
    <>
      <polyline points={points.join(" ")} fill="none" stroke={colour} strokeWidth="2" strokeLinejoin="round" />
      {last && <circle cx={x(series.points.length - 1)} cy={y(last.value)} r="3.5" fill={colour} />}
    </>
  );
}

export function BarChart({ label, series, height = 180 }: ChartProps) {
  const { number } = useWords();
  const [ref, all] = useWidth();
  const count = Math.max(...series.map((one) => one.points.length), 1);
  const top = niceMax(Math.max(0, ...series.flatMap((one) => one.points.map((point) => point.value))));
  const inner = { width: all - PAD.left - PAD.right, height: height - PAD.top - PAD.bottom };
  const slot = inner.width / count;
  const width = Math.min(28, (slot * 0.7) / series.length);
  const tall = (value: number) => (value / top) * inner.height;
  const total = series
    .map((one) => `${one.name}: ${number(one.points.reduce((sum, point) => sum + point.value, 0))}`)
    .join(", ");
  const base = PAD.top + inner.height;
  const labels = series[0]?.points ?? [];
  return (
    <div ref={ref}>
      <svg
        className="chart"
        width={all}
        height={height}
        viewBox={`0 0 ${all} ${height}`}
        role="img"
        aria-label={`${label}. ${total}`}
      >
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line
              x1={PAD.left}
              x2={all - PAD.right}
              y1={base - tall(top * share)}
              y2={base - tall(top * share)}
              stroke="var(--line)"
            />
            <text x={PAD.left - 8} y={base - tall(top * share) + 4} textAnchor="end">
              {number(top * share)}
            </text>
          </g>
        ))}
        {series.flatMap((one, at) =>
          one.points.map((point, index) => {
            const left = PAD.left + slot * index + (slot - width * series.length) / 2 + width * at;
            return (
              <rect
                key={`${one.name}${index}`}
                x={left}
                y={base - tall(point.value)}
                width={Math.max(1, width - 2)}
                height={tall(point.value)}
                rx="2"
                fill={`var(--chart-${one.colour})`}
              />
            );
          }),
        )}
        {labels.map(
          (point, index) =>
            index % Math.ceil((count * 60) / inner.width) === 0 && (
              <text key={index} x={PAD.left + slot * (index + 0.5)} y={height - 4} textAnchor="middle">
                {point.label}
              </text>
            ),
        )}
      </svg>
    </div>
  );
}
