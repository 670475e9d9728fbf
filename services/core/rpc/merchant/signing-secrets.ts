import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { SigningSecretEntity } from '../../storage/signing-secret.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { refusalOf } from '../refuse.ts';
import { changeMerchant } from './change-merchant.ts';
import { newSigningSecret } from './new-credentials.ts';
import { presentSigningSecret } from './present-merchant.ts';

/** At most two secrets live at a time: the one in use and the one that replaces it. */
const MOST_LIVE = 2;

/** Adds the second signing secret. The older one stays in use for the legacy signature until it is retired. */
export function addSigningSecret(core: Core): MethodImpl<typeof MerchantService.method.addSigningSecret> {
  return (request) =>
    changeMerchant(core, request.merchantId, 'signing-secret.add', async (em) => {
      const live = await em.count(SigningSecretEntity, { merchantId: request.merchantId, retiredAt: null });
      if (live >= MOST_LIVE) throw refused('merchant_id', 'two signing secrets are live; retire one first');
      const { row, secret } = newSigningSecret(core, em, request.merchantId);
      return { signingSecret: presentSigningSecret(row), secret };
    });
}

/** Ends a signing secret; gateways stop taking it within seconds. The last one cannot be ended. */
export function retireSigningSecret(core: Core): MethodImpl<typeof MerchantService.method.retireSigningSecret> {
  return (request) =>
    changeMerchant(
      core,
      request.merchantId,
      'signing-secret.retire',
      async (em) => {
        const { signingSecretId: id, merchantId } = request;
        const secret = isUuid(id) ? await em.findOne(SigningSecretEntity, { id, merchantId }) : null;
        if (!secret) throw refusalOf('OPERATION_NOT_FOUND');
        if (secret.retiredAt) return {};
        const live = await em.count(SigningSecretEntity, { merchantId, retiredAt: null });
        if (live === 1) throw refused('signing_secret_id', 'is the last live secret; add another first');
        secret.retiredAt = core.clock();
        return {};
      },
      { signingSecretId: request.signingSecretId },
    );
}

function refused(field: string, description: string): HoldfastError {
  return new HoldfastError('INVALID_REQUEST', description, { violations: [{ field, description }] });
}
