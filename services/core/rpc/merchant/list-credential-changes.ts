import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { readCredentialChanges } from '../../feeds/credentials-feed.ts';
import type { Method } from '../core.ts';

/** Returns what WatchCredentials would send next. It reads the database, so it includes every commit of every core. */
export const listCredentialChanges: Method<'listCredentialChanges'> = async (core, { afterChangeNumber }) => {
  const { merchants, endedSessions } = await readCredentialChanges(core.database, core.cipher, afterChangeNumber);
  return { merchants, endedSessions, now: timestampFromDate(core.clock()) };
};
