import { retireSigningSecret as retireStored } from '../../storage/merchant/change-credentials.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { invalidField, noSuch } from '../refuse.ts';

/** Retires a signing secret; gateways reject it within seconds. The last live one cannot be retired. */
export const retireSigningSecret: Method<'retireSigningSecret'> = async (core, { signingSecretId: id, merchantId }) => {
  const retired = isUuid(id) && (await retireStored(core.database, { id, merchantId }, core.clock()));
  if (!retired || retired === 'NOT_FOUND') throw noSuch('signing secret');
  if (retired === 'LAST') throw invalidField('signing_secret_id', 'is the last live secret; add another first');
  return {};
};
