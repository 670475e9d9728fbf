import type { IncomingMessage } from 'node:http';
import type { SignedFields } from '../../client/webhooks/signature.ts';
import { openBodyRoom } from '../../platform/body-room.ts';
import type { BodyBounds } from '../../platform/read-body.ts';
import { readBody } from '../http/raw-body.ts';
import { type Limits, limiterKey } from '../limits/limits.ts';
import { demandRate } from '../limits/rate-limit.ts';
import { parseNotification } from './notification.ts';

/** Bodies up to this size are free, so that senders of large bodies do not use up the budget of small ones. */
const FREE_BYTES = 4 * 1024;

/** Memory of all senders together before a signature is verified. Beyond it the largest bodies give way. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * Limits the bytes of bodies that one address sends per second, before a signature is verified: to `kibPerSecond`, and
 * never less than one body of the largest size.
 */
export function createBodyBudget(limits: Limits, kibPerSecond: number, bounds: BodyBounds) {
  const shared = openBodyRoom(MOST_BYTES);
  const mostKib = kibOf(bounds.maxBytes);
  const points = Math.max(kibPerSecond, mostKib);
  const limiter = limits.limiter({ name: 'relay-body-kib', points, durationSeconds: 1 });

  async function charge(network: string, bytes: number): Promise<void> {
    if (bytes > FREE_BYTES) await demandRate(limiter, network, Math.min(kibOf(bytes), mostKib));
  }

  return {
    /**
     * Reads a body. Throws RATE_LIMITED when the budget is used up, before reading if the length is declared; and what
     * readBody() throws.
     */
    async read(request: IncomingMessage, network: string): Promise<Buffer> {
      const declared = request.headers['content-length'];
      if (declared !== undefined) await charge(network, Number(declared));
      const body = await readBody(request, { ...bounds, room: { shared, address: network } });
      if (declared === undefined) await charge(network, body.length);
      return body;
    },
    /** Parses a body; an unparsable one is charged like the largest. Throws INVALID_REQUEST. */
    async parse(body: Buffer, network: string): Promise<SignedFields> {
      try {
        return parseNotification(body);
      } catch (error) {
        await limiter.penalty(limiterKey(network), mostKib);
        throw error;
      }
    },
  };
}

function kibOf(bytes: number): number {
  return Math.ceil(bytes / 1024);
}
