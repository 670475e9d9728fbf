import { setTimeout as delay } from 'node:timers/promises';
import { notPerformed } from '../../../platform/adapter/ending.ts';
import { OutcomeUnknown } from '../../../platform/adapter/serve.ts';
import type { Context } from '../adapter-context.ts';
import type { Answered } from '../api/client.ts';
import type { Entry } from '../ledger/entry.ts';
import { type Request, readAnswer } from './request.ts';
import type { Ending } from './settle.ts';

/** Another request under the key is waited for a little; so is a rate limit. */
const WAITS_MS = [100, 300, 900];

/** Sends a request to Adyen under its key. `doubt`: another request under the key may have arrived. */
export async function ask(context: Context, { path, body, key }: Request, doubt: boolean): Promise<Asked> {
  let isDoubtful = doubt;
  for (let attempt = 0; ; attempt += 1) {
    const answered = await context.adyen.post(path, body, key, isDoubtful);
    isDoubtful ||= answered.is === 'in progress';
    const isPassing = answered.is === 'in progress' || (answered.is === 'turned away' && answered.isPassing);
    const waitMs = WAITS_MS[attempt];
    if (!isPassing || waitMs === undefined) return { answered, doubt: isDoubtful };
    await delay(waitMs);
  }
}

/** What a request came to. `doubt`: another request under the key may have arrived. */
export interface Asked {
  readonly answered: Answered;
  readonly doubt: boolean;
}

/** How an operation ended by what its request came to. Throws OutcomeUnknown. */
export function endingOf(entry: Entry, { answered, doubt }: Asked): Ending {
  if (answered.is === 'answered') {
    const ending = readAnswer(entry, answered.answer);
    if (ending) return ending;
  }
  if (answered.is === 'rejected') return notPerformed(CODES[answered.code] ?? answered.code, answered.message);
  if (answered.is === 'turned away' && !doubt) return notPerformed(answered.code, answered.message);
  throw new OutcomeUnknown('Adyen did not answer');
}

/** Adyen's error codes for which the contract has a word of its own ("Contract not found"). */
const CODES: Readonly<Record<string, string>> = { adyen_800: 'token_invalid' };
