/** From validated JSON to core's messages. */
import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';

/** Leaves out the fields that are undefined: protobuf's optional fields must be absent instead. */
export function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** Converts an RFC 3339 time that a schema has validated. */
export function timestampOf(text: string | undefined): Timestamp | undefined {
  return text === undefined ? undefined : timestampFromDate(new Date(text));
}
