import { HoldfastError } from '../../domain/refusal.ts';
import { addSigningSecret as addStored } from '../../storage/merchant/change-credentials.ts';
import type { Method } from '../core.ts';
import { noSuch } from '../refuse.ts';
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
