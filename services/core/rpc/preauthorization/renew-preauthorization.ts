import { create } from '@bufbuild/protobuf';
import {
  CreatePreauthorizationRequestSchema,
  MerchantReason,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { Freezing } from '../../domain/contradiction.ts';
import { isOpen, remainedOf } from '../../domain/hold-rules.ts';
import { HoldfastError, type RefusalCode } from '../../domain/refusal.ts';
import { judgeRenewal } from '../../domain/renewal-rules.ts';
import { releasedInParts } from '../../storage/submission/read-submissions.ts';
import type { Method } from '../core.ts';
import { demandCurrency, frozenHold, refusalOf } from '../refuse.ts';
import { scopeOfChange } from '../server/caller.ts';
import { placeHold } from './create-preauthorization.ts';
import { namedHold } from './read-preauthorizations.ts';

/**
 * Places a hold like an earlier one (docs/product.md, "Renewing"). It is placed like any other, and names the hold that
 * it renews, which a worker releases afterwards. An amount left out is not among the call's fields: a repetition finds
 * the first answer, whatever remains by then.
 */
export const renewPreauthorization: Method<'renewPreauthorization'> = async (core, request, context) => {
  const old = await namedHold(core, request, scopeOfChange(context, request.merchantId));
  demandCurrency(old, request.currency);
  const { requestId: renews, idHash, merchantId, currency, terminalId, userId } = old;
  const token = old.tokenId ?? old.generatedTokenId ?? null;
  const { amount, idempotencyKey, operationRequestId } = request;
  const renewed = amount ?? remainedOf(old) - (isOpen(old) ? 0n : await releasedInParts(core.database.query, renews));
  const code = judgeRenewal(old, token, renewed);
  const refusal = code && refuse(code, old);
  const asked = create(CreatePreauthorizationRequestSchema, {
    merchantId,
    tokenId: token ?? '',
    amount: renewed,
    currency,
    terminalId,
    userId,
    metadata: old.metadata ?? {},
    merchantInitiated: { reason: MerchantReason.REAUTHORIZATION },
    ...(old.merchantReference != null && { merchantReference: old.merchantReference }),
    ...(old.description != null && { description: old.description }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(operationRequestId !== undefined && { operationRequestId }),
  });
  return placeHold(core, asked, context, { renews, idHash, fields: { renews, amount }, refusal });
};

function refuse(code: RefusalCode, hold: Freezing): HoldfastError {
  if (code === 'NOT_SUPPORTED') return new HoldfastError(code, NO_TOKEN);
  return code === 'HOLD_FROZEN' ? frozenHold(hold) : refusalOf(code);
}

const NO_TOKEN = 'the hold was placed at a checkout that kept no token: it cannot be renewed without the customer';
