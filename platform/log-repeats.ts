/** What a line says besides its event. */
type Fields = { readonly [name: string]: string | number | boolean | undefined };

/** A line of the log. */
export interface Line {
  readonly level: 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: Fields;
}

/** Equal lines within one window. */
interface Group {
  readonly first: Line;
  written: number;
  leftOut: number;
}

/** Maximum equal lines written in each window. */
const LINES_PER_WINDOW = 100;
const WINDOW_MS = 10_000;

/**
 * Keeps a flood from filling the log. A line that names an operation (`requestId`) is always written. Of other lines
 * with the same event, outcome and merchant, the first 100 in 10 s are written and the rest are counted in one line,
 * `lines left out`. So the number of lines grows with a flood's duration, not with its rate.
 */
export function limitRepeats(write: (line: Line) => void, windowMs = WINDOW_MS): (line: Line) => void {
  const groups = new Map<string, Group>();
  const end = (key: string, { first: { level, event, fields }, leftOut }: Group) => {
    groups.delete(key);
    unfinished.delete(flush);
    if (leftOut > 0)
      write({ level, event: 'lines left out', fields: { ...sameFields(fields), of: event, count: leftOut } });
    if (groups.size > 0) unfinished.add(flush);
  };
  const flush = () => {
    for (const [key, group] of groups) end(key, group);
  };
  return (line) => {
    if (line.fields.requestId) return write(line);
    const key = JSON.stringify([line.level, line.event, sameFields(line.fields)]);
    const group = groups.get(key) ?? { first: line, written: 0, leftOut: 0 };
    if (!groups.has(key)) {
      groups.set(key, group);
      unfinished.add(flush);
      setTimeout(() => groups.get(key) === group && end(key, group), windowMs).unref();
    }
    if (group.written === LINES_PER_WINDOW) {
      group.leftOut += 1;
      return;
    }
    group.written += 1;
    write(line);
  };
}

/**
 * The fields that equal lines share. An unauthenticated sender chooses none of them, so the number of windows is
 * bounded.
 */
const SAME = ['status', 'code', 'error', 'reason', 'merchantId'];

function sameFields(fields: Fields): Fields {
  return Object.fromEntries(SAME.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]));
}

/** Logs with open windows: a process that exits writes their counts first. */
const unfinished = new Set<() => void>();
const flushAll = () => {
  for (const flush of unfinished) flush();
};
process.on('exit', flushAll);
