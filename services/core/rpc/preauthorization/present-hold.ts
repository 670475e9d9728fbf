import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  AuthorizationSchema,
  MerchantReason,
  PreauthorizationSchema,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { frozenBecauseOf } from '../../domain/contradiction.ts';
import { isOpen, shownPhase } from '../../domain/hold-rules.ts';
import { inOrder } from '../../domain/notification-body.ts';
import type { Cipher } from '../../storage/cipher.ts';
import type { AskedTerms, HoldRow, WrittenHold } from '../../storage/hold/hold-row.ts';
import { preauthorizationIdOf } from '../../storage/hold/preauthorization-id.ts';
import type { Replacing } from '../../storage/submission/read-submissions.ts';
import { present, presentCard, presentError } from '../present.ts';

/**
 * The answer about one hold. Its preauthorizationId is shown only once the hold is placed, and when it has ended, as
 * long as ENCRYPTION_KEYS has the key that the id follows from. Throws when an open hold's key is missing.
 */
export function presentHold(hold: WrittenHold, cipher: Cipher) {
  const placed = hold.phase === 'AUTHORIZED';
  const preauthorizationId = placed ? preauthorizationIdOf(hold, cipher) : undefined;
  if (placed && isOpen(hold) && preauthorizationId === undefined)
    throw new Error('the preauthorizationId of an open hold follows from a key that ENCRYPTION_KEYS does not have');
  return { ...presentListed(hold, cipher), ...(preauthorizationId && { preauthorizationId }) };
}

/** A hold in a list: without its preauthorizationId, which captures it. */
export function presentListed(hold: WrittenHold, cipher: Cipher) {
  const phase = shownPhase(hold);
  const page = hold.phase === 'AWAITING_CHECKOUT' && hold.checkoutUrlCiphertext ? pageOf(hold, cipher) : null;
  return {
    ...present(PreauthorizationSchema, hold, {
      phase,
      frozenBecause: frozenBecauseOf(hold) ?? null,
      metadata: hold.metadata && inOrder(hold.metadata),
      checkoutExpiresAt: phase === 'AWAITING_CHECKOUT' ? hold.checkoutExpiresAt : null,
      nextAction: phase === 'AWAITING_CUSTOMER' ? page : null,
      warnings: warningsOf(hold),
      merchantInitiated: initiatedBy(hold),
    }),
    amountCaptured: hold.captured,
    amountInFlight: hold.inFlight,
    amountRemaining: hold.remaining,
    amountReleased: hold.released,
    amountReversed: hold.reversed,
    amountRefunded: hold.refunded,
    ...(phase === 'AWAITING_CHECKOUT' && page && { checkoutUrl: page.url }),
    ...presentCard(hold),
    ...presentError(hold),
  };
}

/** The authorizations of a hold that renews itself, or did; of others, and of holds that were never placed, none. */
export function presentAuthorizations(hold: HoldRow, renewals: readonly Replacing[]) {
  if (hold.placedAt == null || (hold.keepUntil == null && hold.authorizationId == null)) return [];
  const first = {
    reference: hold.processorReference,
    placedAt: hold.placedAt,
    guaranteedUntil: renewals.length > 0 ? hold.firstGuaranteedUntil : hold.guaranteedUntil,
  };
  const others = renewals.map(({ processorReference: reference, finalAt: placedAt, guaranteedUntilAfter }) => {
    return { reference, placedAt, guaranteedUntil: guaranteedUntilAfter };
  });
  return [first, ...others].map((authorization, place) =>
    present(AuthorizationSchema, {
      ...authorization,
      endedAt: place < renewals.length ? renewals[place]?.gaveBackAt : hold.closedAt,
    }),
  );
}

function initiatedBy({ merchantReason, sentNetworkTransactionId: id }: WrittenHold) {
  return merchantReason == null ? null : { reason: MerchantReason[merchantReason], networkTransactionId: id ?? '' };
}

/** What an open hold will do that may not work. */
function warningsOf({ captureAt, guaranteedUntil, autoCaptureId, status }: WrittenHold) {
  const isLate = captureAt && guaranteedUntil && captureAt > guaranteedUntil && !autoCaptureId && isOpen({ status });
  if (!isLate) return [];
  return [
    { field: 'capture_at', description: `is after the guarantee of the card scheme: ${guaranteedUntil.toISOString()}` },
  ];
}

/** A hold as it was when it was placed, whatever has happened since: the first answer to its request. */
export function presentPlaced(hold: WrittenHold, cipher: Cipher) {
  const expiresAt = hold.firstExpiresAt ?? hold.expiresAt;
  return presentHold({ ...asAsked(hold), expiresAt, guaranteedUntil: hold.firstGuaranteedUntil }, cipher);
}

/** A hold as it was when its customer was sent to a page: the first answer to its request. */
export function presentAwaiting(hold: WrittenHold, cipher: Cipher) {
  const opened: WrittenHold = {
    ...asAsked(hold),
    phase: 'AWAITING_CHECKOUT',
    remaining: 0n,
    placedAt: null,
    expiresAt: null,
    guaranteedUntil: null,
    cardLast4: null,
    generatedTokenId: null,
    networkTransactionId: null,
    processorReference: null,
    processorCode: null,
    processorMessage: null,
  };
  return presentHold(opened, cipher);
}

/** A hold with its books as they were before anything happened to it, and with what an update can change as before. */
function asAsked(hold: WrittenHold): WrittenHold {
  const { asked, amountAsked } = hold;
  const untouched = { ...hold, ...UNTOUCHED, amount: amountAsked, remaining: amountAsked };
  return withTerms(untouched, asked);
}

/** A hold with its terms as they were before they changed; null = they have not. */
export function withTerms(hold: WrittenHold, terms: AskedTerms | null | undefined): WrittenHold {
  if (terms == null) return hold;
  const { description = null, merchantReference = null, metadata = null } = terms;
  const captureAt = terms.captureAt ? new Date(terms.captureAt) : null;
  const releaseAt = terms.releaseAt ? new Date(terms.releaseAt) : null;
  const keepUntil = terms.keepUntil ? new Date(terms.keepUntil) : null;
  return { ...hold, captureAt, releaseAt, keepUntil, description, merchantReference, metadata };
}

const UNTOUCHED = {
  status: 'IN_PROGRESS',
  captured: 0n,
  inFlight: 0n,
  released: 0n,
  reversed: 0n,
  refunded: 0n,
  releaseReason: null,
  closedAt: null,
  frozen: false,
} as const;

function pageOf(hold: WrittenHold, cipher: Cipher) {
  return {
    url: pageUrlOf(hold, cipher),
    expiresAt: hold.checkoutExpiresAt && timestampFromDate(hold.checkoutExpiresAt),
  };
}

/** The address of the page that a hold's customer goes to, as long as it is kept. */
export function pageUrlOf(hold: WrittenHold, cipher: Cipher): string {
  return hold.checkoutUrlCiphertext ? cipher.open(hold.checkoutUrlCiphertext, `checkout:${hold.requestId}`) : '';
}
