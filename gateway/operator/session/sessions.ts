/**
 * Console sessions. A session is stored in its cookie, encrypted with a key that every gateway derives from
 * GATEWAY_TOKEN: any gateway can open it, none stores it, and a flood of sign-ins costs no memory. Only sessions that
 * were ended early are shared: core stores their hashes until they would have expired, and sends them to every gateway
 * with the credentials.
 */
import * as crypto from 'node:crypto';
import { z } from 'zod';
import type { Credentials } from '../../core/credentials.ts';
import { Problem } from '../../http/problem.ts';

/** A person's name, as the audit log keeps it. */
export const operatorName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9 ._@+-]{0,63}$/, 'must be a letter, then at most 63 letters, digits or " ._@+-"')
  .meta({ description: 'Who it is, for the audit log', examples: ['alice'] });

const Session = z.strictObject({
  /** 256 random bits. */
  id: z.string(),
  /** The operator token, which only core can verify. */
  token: z.string(),
  /** The name given at sign-in; empty = none. */
  operator: z.string(),
  expiresAtMs: z.int(),
});
export type Session = Readonly<z.output<typeof Session>>;

export type Sessions = ReturnType<typeof createSessions>;

export const COOKIE = 'holdfast_operator';
/** A working day. */
export const SESSION_SECONDS = 8 * 3_600;
const [IV_BYTES, TAG_BYTES] = [12, 16];

/** Works with the sessions of all gateways that have the same token. */
export function createSessions(
  gatewayToken: string,
  credentials: Pick<Credentials, 'isSessionEnded' | 'isFresh'>,
  now: () => number = Date.now,
) {
  const sealingKey = derive(gatewayToken, 'holdfast console session');
  const csrfKey = derive(gatewayToken, 'holdfast console csrf');

  /** The value that a call by cookie that changes something must send in X-CSRF-Token. */
  const csrfToken = ({ id }: Session) => crypto.createHmac('sha256', csrfKey).update(id).digest('base64url');
  /** Returns whether it has neither expired nor been ended. */
  const isLive = (session: Session) =>
    now() < session.expiresAtMs && !credentials.isSessionEnded(sessionHash(session).toString('base64'));
  return {
    start(token: string, operator: string): Session {
      const expiresAtMs = now() + SESSION_SECONDS * 1000;
      return { id: crypto.randomBytes(32).toString('base64url'), token, operator, expiresAtMs };
    },
    /** The cookie's value. */
    seal: (session: Session) => seal(sealingKey, JSON.stringify(session)),
    /**
     * Undefined for a cookie that this key did not seal, and for a session that has expired or was ended. Throws
     * UNAVAILABLE while the gateway does not know which sessions were ended.
     */
    open(cookie: string): Session | undefined {
      const session = unseal(sealingKey, cookie);
      if (session === undefined || !isLive(session)) return undefined;
      if (!credentials.isFresh()) throw new Problem('UNAVAILABLE', { detail: 'Sessions cannot be checked now.' });
      return session;
    },
    isLive,
    csrfToken,
    isCsrfToken(session: Session, token: string): boolean {
      const [is, due] = [Buffer.from(token), Buffer.from(csrfToken(session))];
      return is.length === due.length && crypto.timingSafeEqual(is, due);
    },
  };
}

/** Identifies a session to core: the id itself stays in the cookie. */
export function sessionHash({ id }: Session): Buffer {
  return crypto.createHash('sha256').update(id).digest();
}

/** RFC 5869. The token has 32 characters or more, all of them random, so it needs no stretching. */
function derive(gatewayToken: string, purpose: string): Buffer {
  return Buffer.from(crypto.hkdfSync('sha256', gatewayToken, '', purpose, 32));
}

function seal(key: Buffer, text: string): string {
  const iv = crypto.randomBytes(IV_BYTES);
  const cipher = crypto.createCipheriv('aes-256-gcm', key, iv);
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}

function unseal(key: Buffer, cookie: string): Session | undefined {
  const bytes = Buffer.from(cookie, 'base64url');
  if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
  const decipher = crypto.createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
  try {
    decipher.final();
  } catch (error) {
    // Node reports a wrong tag by a plain Error: the cookie is forged, or was sealed before the token changed.
    if (error instanceof Error) return undefined;
    throw error;
  }
  return Session.safeParse(JSON.parse(text.toString('utf8'))).data;
}
