import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { plainWords } from '../../platform/plain-words.ts';

/** What a processor may be able to do. Describe must say the same. */
export const FEATURES = [
  'checkouts',
  'savedCards',
  'credits',
  'accepts',
  'fences',
  'guaranteedUntil',
  'stepUp',
  'renewals',
  'severalCaptures',
  'increments',
  'partialRelease',
  'extension',
  'refunds',
] as const;

export type Feature = (typeof FEATURES)[number];

const token = z.string().min(1).max(128);
const ms = z.int().min(1).max(600_000);

/**
 * Tokens with which operations of one kind go otherwise than well. What they need before (hold, capture) is approved.
 */
const ways = z.strictObject({
  declined: token.optional(),
  notPerformed: token.optional(),
  accepted: token.optional(),
  /** It is accepted, and refused later. */
  acceptedRefused: token.optional(),
  /** It is done, and the answer never comes. */
  answerLost: token.optional(),
  /** The request never arrives, and no answer comes. */
  requestLost: token.optional(),
});

const PROFILE = z.strictObject({
  merchantId: z.string().min(1).max(32).default('conformance'),
  /** The merchant's account at the processor. */
  account: z.string().max(128).default(''),
  /** Another merchant, and another account, that hold nothing of the first's. */
  otherMerchantId: z.string().min(1).max(32).default('conformance-2'),
  otherAccount: z.string().min(1).max(128).optional(),
  terminalId: z.string().min(1).max(64).default('terminal-1'),
  userId: z.string().min(1).max(64).default('user-1'),
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code'),
  /** Another currency that the processor takes; requests that change the currency of another use it. */
  otherCurrency: z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code'),
  /** More currencies to try, such as those that count otherwise than in hundredths. */
  moreCurrencies: z.array(z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code')).default([]),
  /** What holds reserve, minor units. Tenths of it are captured. */
  amount: z.int().min(100).max(1_000_000_000).multipleOf(10).default(10_000),
  features: z.array(z.enum(FEATURES)),
  tokens: z.strictObject({
    /** Everything is approved. */
    approved: token,
    /** There is no such token. */
    unknown: token.optional(),
    authorization: ways.default({}),
    /** Of authorizations that renew one of the token that approves everything. */
    renewal: ways.default({}),
    capture: ways.default({}),
    void: ways.default({}),
    increment: ways.default({}),
    decrease: ways.default({}),
    extension: ways.default({}),
    refund: ways.default({}),
    credit: ways.default({}),
    /** Captures are reversed in whole; in part; without naming the capture; and reinstated afterwards. */
    reversed: token.optional(),
    reversedInPart: token.optional(),
    reversedUnattributed: token.optional(),
    reversedReinstated: token.optional(),
    /** Refunds are accepted, and their capture is reversed before they end. */
    refundAcceptedReversed: token.optional(),
    /** A refund comes back, or a part of it; a credit does. */
    refundReturned: token.optional(),
    creditReturned: token.optional(),
    /** The authorization ends by itself. */
    endedEarly: token.optional(),
    /** The authorization's time is over within seconds. */
    expiresSoon: token.optional(),
    /** The issuer asks the customer for authentication. */
    challenge: token.optional(),
    /** The authorization can be captured once. */
    singleCapture: token.optional(),
  }),
  /** How the kit starts the adapter, to kill it. Absent: it runs already, and is never killed. */
  process: z
    .strictObject({
      command: z.array(z.string().min(1)).min(1),
      env: z.record(z.string(), z.string()).default({}),
      readyWithinMs: ms.default(30_000),
    })
    .optional(),
  /** Plays the customer at a page: run with its address, then `confirm` or `refuse`. */
  customer: z.strictObject({ command: z.array(z.string().min(1)).min(1) }).optional(),
  /** After this long without an answer the kit takes the answer for lost. */
  lostAnswerMs: ms.default(1_000),
  /** An event, or the end of an accepted operation that names no time, comes within this long. */
  eventWithinMs: ms.default(15_000),
  /** What was answered is repeated at the end of the run, and not sooner than after this long. */
  repeatAfterMs: ms.default(30_000),
  /** No reservation lasts longer. */
  longestHoldDays: z.int().min(1).max(400).default(60),
});

/** What the kit has to know about an adapter: which token provokes what, and which features there are. */
export type Profile = z.output<typeof PROFILE>;

/** Reads a profile. Throws an Error whose message is one line that names the file and every field that is wrong. */
export function readProfile(file: string): Profile {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`profile ${file}: cannot be read`, { cause });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error(`profile ${file}: is not JSON (${(cause as Error).message})`, { cause });
  }
  return parseProfile(value, `profile ${file}`);
}

/** Checks a profile that was parsed already. Throws an Error that begins with `name`. */
export function parseProfile(value: unknown, name = 'profile'): Profile {
  const parsed = PROFILE.safeParse(value, { error: plainWords });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the profile'}: ${message}`);
  throw new Error(`${name}: ${faults.join('; ')}`);
}
