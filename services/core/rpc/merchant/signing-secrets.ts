import { HoldfastError } from '../../domain/refusal.ts';
import {
  addSigningSecret as addStored,
  retireSigningSecret as retireStored,
} from '../../storage/merchant/change-credentials.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { invalidField, noSuch } from '../refuse.ts';
import { newSigningSecret } from './new-credentials.ts';
import { presentSigningSecret } from './present-merchant.ts';

/** Adds the second signing secret. The older one makes the legacy signature until it is retired. */
export const addSigningSecret: Method<'addSigningSecret'> = async (core, { merchantId }) => {
  const { row, secret } = newSigningSecret(core.cipher, merchantId, core.clock());
  const added = await addStored(core.database, row);
  if (added === 'NOT_FOUND') throw noSuch('merchant');
  if (added === 'TOO_MANY')
    throw new HoldfastError('INVALID_REQUEST', 'two signing secrets are live: retire one first');
  return { signingSecret: presentSigningSecret(added), secret };
};

/** Retires a signing secret; gateways reject it within seconds. The last live one cannot be retired. */
export const retireSigningSecret: Method<'retireSigningSecret'> = async (core, { signingSecretId: id, merchantId }) => {
  const retired = isUuid(id) && (await retireStored(core.database, { id, merchantId }, core.clock()));
  if (!retired || retired === 'NOT_FOUND') throw noSuch('signing secret');
  if (retired === 'LAST') throw invalidField('signing_secret_id', 'is the last live secret; add another first');
  return {};
};
