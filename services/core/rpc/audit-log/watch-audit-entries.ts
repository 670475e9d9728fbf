import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../../domain/refusal.ts';
import { readLinksAfter, readNewestPlace } from '../../storage/audit-log/read-links.ts';
import type { Method } from '../core.ts';
import { HEARTBEAT_MS } from '../operation/follow-log.ts';
import { presentAuditEntry } from './list-audit-entries.ts';

/** Entries are rare: a look each second costs less than a message for each. */
const LOOK_MS = 1_000;
const PAGE = 200;

/** Streams the audit log from a place on. Errors: STREAM_TOKEN_TOO_OLD, also after a restore to before that place. */
export const watchAuditEntries: Method<'watchAuditEntries'> = async function* (core, request, { signal }) {
  const { query } = core.reads;
  let place = request.resumeToken || (await readNewestPlace(query));
  let shownAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    const links = await readLinksAfter(query, place, PAGE);
    if (links === undefined) throw lost();
    if (shownAt < performance.now() - HEARTBEAT_MS) {
      yield { resumeToken: place };
      shownAt = performance.now();
    }
    for (const { place: here, entry } of links) {
      yield { ...(entry && { entry: presentAuditEntry(entry) }), resumeToken: here };
      place = here;
    }
    if (links.length === 0) await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
};

function lost(): HoldfastError {
  const message = 'the audit log does not have the place of the resume token: it was restored to before, or changed';
  return new HoldfastError('STREAM_TOKEN_TOO_OLD', message);
}
