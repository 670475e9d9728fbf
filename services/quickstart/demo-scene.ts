/** What the steps of the demo share. */
import assert from 'node:assert/strict';
import type { QuickstartFile } from './quickstart.ts';
import type { Answer, Shop } from './shop.ts';

export interface Scene {
  readonly file: QuickstartFile;
  readonly shop: Shop;
  /** The merchant whose contract allows one capture. */
  readonly single: Shop;
  /** Prints what was seen. */
  saw(text: string): void;
}

/** Returns the answer when it has the expected status; otherwise throws one line that names both. */
export function expect(status: number, answer: Answer): Answer {
  const { code, detail } = answer.body ?? {};
  assert.equal(
    answer.status,
    status,
    `answered ${answer.status} ${code ?? ''} ${detail ?? ''} where ${status} was due`,
  );
  return answer;
}
