import { hashOf } from '../../storage/cipher.ts';
import { HoldEntity, type HoldRow } from '../../storage/hold.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { refusalOf } from '../refuse.ts';

/**
 * The hold that a request names, by its requestId or by its sensitive handle. Another merchant's hold, and a malformed name, look like one
 * that does not exist. `merchantId` undefined = any merchant's. Errors: PREAUTHORIZATION_NOT_FOUND.
 */
export async function findHold(
  core: Core,
  name: { readonly requestId: string; readonly preauthorizationId: string },
  merchantId: string | undefined,
): Promise<HoldRow> {
  const { requestId, preauthorizationId } = name;
  if (requestId !== '' && !isUuid(requestId)) throw refusalOf('PREAUTHORIZATION_NOT_FOUND');
  const hold = await core.database.orm.em.fork().findOne(HoldEntity, {
    ...(requestId !== '' ? { requestId } : { idHash: hashOf(preauthorizationId) }),
    ...(merchantId !== undefined && { merchantId }),
  });
  if (!hold) throw refusalOf('PREAUTHORIZATION_NOT_FOUND');
  return hold;
}
