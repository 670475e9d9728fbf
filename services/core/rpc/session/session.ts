import { timestampDate } from '@bufbuild/protobuf/wkt';
import { audited } from '../../storage/audit-log/audit-log.ts';
import { endSession as endStored } from '../../storage/merchant/credential-rows.ts';
import type { Method } from '../core.ts';
import { invalidField } from '../refuse.ts';

/** Succeeds for every caller that the interceptors let through: those with an operator's credential. */
export const checkOperator: Method<'checkOperator'> = () => ({});

/** No session lasts longer. */
const LONGEST_MS = 86_400_000;

/** Ends a console session at all gateways. Throws INVALID_REQUEST when `expires_at` is more than a day away. */
export const endSession: Method<'endSession'> = async (core, request) => {
  const at = core.clock();
  const expiresAt = request.expiresAt ? timestampDate(request.expiresAt) : at;
  if (expiresAt.getTime() > at.getTime() + LONGEST_MS) {
    throw invalidField('expires_at', 'is later than a day from now');
  }
  const sessionHash = Buffer.from(request.sessionHash);
  const action = { at, action: 'session.end', target: sessionHash.toString('hex').slice(0, 8) };
  await audited(core.database, action, (query) => endStored(query, sessionHash, expiresAt));
  return {};
};
