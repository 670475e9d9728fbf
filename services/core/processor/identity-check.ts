import { settlesWithin } from '../../../platform/settles-within.ts';
import type { DescribeResponse } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';

/** The identity that a processor states in Describe. */
export type Identity = Readonly<Pick<DescribeResponse, 'name' | 'identity'>>;

/** The known identities of processors. */
export interface Identities {
  /** Returns who a processor was at the first contact, which is stored then. */
  recall(processor: string, shown: Identity): Promise<Identity>;
  /** Called when another processor answers at the address of one. */
  differs(processor: string): void;
}

/** While another one answers, it is asked again after this long. */
const AGAIN_MS = 1_000;
/** A call must not be sent much later than it was made: recovery may have fenced its identifier by then. */
const PATIENCE_MS = 3_000;

/** Opens the check whether a processor, which `describe` asks, is the one of the first contact. */
export function openIdentityCheck(
  processor: string,
  describe: () => Promise<Identity>,
  { recall, differs }: Identities,
) {
  let state: 'UNKNOWN' | 'SAME' | 'OTHER' = 'UNKNOWN';
  let connection = 0;
  let asking: Promise<void> | undefined;
  let askedAtMs = Number.NEGATIVE_INFINITY;

  async function ask(): Promise<void> {
    askedAtMs = performance.now();
    const askedOn = connection;
    try {
      const shown = await describe();
      const known = await recall(processor, shown);
      if (askedOn !== connection) return;
      state = known.name === shown.name && known.identity === shown.identity ? 'SAME' : 'OTHER';
      if (state === 'OTHER') differs(processor);
    } catch {
      // No answer: the next call asks again.
    }
  }
  function asked(): Promise<void> {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  }
  // So that new holds are refused, rather than stored, at another one.
  void asked();
  const isTooSoon = () => state === 'OTHER' && performance.now() - askedAtMs < AGAIN_MS;
  return {
    /**
     * True = it is, and may be called. Asks it before the first call of each connection: a connection may lead
     * elsewhere, because addresses were swapped. False also when it does not say so in time.
     */
    isSame(): boolean | Promise<boolean> {
      if (state === 'SAME') return true;
      if (isTooSoon()) return false;
      return settlesWithin(PATIENCE_MS, asked()).then((isAnswered) => isAnswered && state === 'SAME');
    },
    /** Returns whether it has proved to be another processor. Asks again now and then. */
    isOther(): boolean {
      if (state === 'OTHER' && !isTooSoon()) void asked();
      return state === 'OTHER';
    },
    /** The connection was lost. */
    forget(): void {
      connection++;
      if (state === 'SAME') state = 'UNKNOWN';
    },
  };
}

/** For processors that nobody can confuse. */
export const UNCHECKED = { isSame: () => true, isOther: () => false, forget: () => undefined };
