import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';

/** An RFC 3339 time that a schema has passed, for core. */
export function timestampOf(text: string | undefined): Timestamp | undefined {
  return text === undefined ? undefined : timestampFromDate(new Date(text));
}
