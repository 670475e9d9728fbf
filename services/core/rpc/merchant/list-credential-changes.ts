import type { Method } from '../core.ts';

/** Returns what WatchCredentials would send next. It reads the database, so it includes every commit of every core. */
export const listCredentialChanges: Method<'listCredentialChanges'> = async (core, { afterChangeNumber }) => {
  const { merchants, endedSessions } = await core.credentials.after(afterChangeNumber);
  return { merchants, endedSessions };
};
