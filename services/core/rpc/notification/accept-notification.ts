import type { Method } from '../core.ts';

/** Stores a notification that the relay has verified, and has it forwarded. It never changes a hold, a capture or an OCT. */
export const acceptNotification: Method<'acceptNotification'> = async (core, request) => ({
  outcome: await core.accept(request),
});
