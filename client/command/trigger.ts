/** Operations of the sandbox by how they end; its tokens say that (docs/sandbox.md). */
import type { Holdfast } from '../holdfast.ts';
import { HoldfastError } from '../refusal.ts';
import { UsageError } from './usage.ts';

type Then = 'capture' | 'release' | 'oct';

const HOW: Readonly<Record<string, readonly [token: string, then?: Then]>> = {
  authorized: ['tok_sandbox_ok'],
  captured: ['tok_sandbox_ok', 'capture'],
  released: ['tok_sandbox_ok', 'release'],
  declined: ['tok_sandbox_declined'],
  failed: ['tok_sandbox_processor_error'],
  paid: ['tok_sandbox_ok', 'oct'],
  expired: ['tok_sandbox_expires_2s'],
  reversed: ['tok_sandbox_reversed', 'capture'],
  reinstated: ['tok_sandbox_reversed_reinstated', 'capture'],
};

/** What can be triggered. */
export const triggers = Object.keys(HOW);

interface Customer {
  readonly amount: number;
  readonly currency: string;
  readonly terminalId: string;
  readonly userId: string;
}

/** Makes an operation that ends as `word` says. Throws UsageError where the processor is not the sandbox. */
export async function trigger({ holds, octs }: Holdfast, word: string, customer: Customer) {
  const [tokenId, then] = HOW[word] ?? [];
  if (tokenId === undefined) throw new UsageError(`${word} cannot be triggered; these can: ${triggers.join(', ')}`);
  const request = { ...customer, tokenId };
  try {
    if (then === 'oct') return await octs.create(request);
    const hold = await holds.create(request);
    if (then === undefined || hold.outcome === 'unknown') return hold;
    if (then === 'release') return await holds.release({ requestId: hold.requestId });
    const { preauthorizationId = '' } = hold as { preauthorizationId?: string };
    return await holds.capture({ preauthorizationId, amountToCapture: customer.amount });
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    if (error.code === 'TOKEN_INVALID') throw new UsageError('the processor of this merchant is not the sandbox');
    // The refusal is what was asked for.
    if (error.code === 'CARD_DECLINED' || error.code === 'PROCESSOR_ERROR')
      return { ...error.problem, outcome: 'done' as const };
    throw error;
  }
}
