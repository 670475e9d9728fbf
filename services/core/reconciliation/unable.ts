import type { HoldRow } from '../storage/hold/hold-row.ts';

/** Why an entry cannot be imported or refunded, in plain words. */
export class Unable extends Error {
  /** Under which requestId it is booked all the same; undefined = it is not. */
  readonly requestId: string | undefined;

  constructor(message: string, requestId?: string) {
    super(requestId === undefined ? message : `${message}; it is booked as ${requestId}`);
    this.requestId = requestId;
  }
}

/** Returns whether an inquiry, or a decision, may still place a hold. */
export function isToBePlaced({ phase }: HoldRow): boolean {
  return phase !== 'AUTHORIZED' && phase !== 'FAILED';
}

export function notPlacedYet({ requestId }: HoldRow): Unable {
  return new Unable(`the hold ${requestId} is not placed here yet: reconcile again later`);
}
