import { LockMode } from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { actorOfCall } from '../../storage/actor.ts';
import { AuditEntryEntity } from '../../storage/audit-entry.ts';
import { nextChangeNumber } from '../../storage/credentials.ts';
import type { Statement } from '../../storage/database.ts';
import { MerchantEntity, type MerchantRow } from '../../storage/merchant.ts';
import type { Core } from '../core.ts';
import { refusalOf } from '../refuse.ts';

/**
 * Changes a merchant, its keys or its secrets in one transaction: the merchant is locked, gets a new change number (so that every
 * gateway hears of it), and the change is audited.
 */
export async function changeMerchant<T>(
  core: Core,
  merchantId: string,
  action: string,
  change: (em: SqlEntityManager, merchant: MerchantRow) => Promise<T>,
  detail?: Readonly<Record<string, unknown>>,
): Promise<T> {
  const answer = await core.database.orm.em.fork().transactional(async (em) => {
    const merchant = await em.findOne(MerchantEntity, { id: merchantId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!merchant) throw refusalOf('OPERATION_NOT_FOUND');
    const changed = await change(em, merchant);
    await stamp(core, em, merchant, action, detail);
    return changed;
  });
  core.contracts.forget(merchantId);
  return answer;
}

/** Writes the change number, last before the commit, and the audit entry. */
export async function stamp(
  core: Core,
  em: SqlEntityManager,
  merchant: MerchantRow,
  action: string,
  detail: Readonly<Record<string, unknown>> | null = null,
): Promise<void> {
  em.create(AuditEntryEntity, {
    id: uuidv7(),
    at: core.clock(),
    actor: actorOfCall(),
    action,
    target: merchant.id,
    detail,
  });
  await em.flush();
  // Through the ORM, so that it is in its transaction; there int8 comes as text.
  const query = async <Row extends object>({ text }: Statement) => em.execute<Row[]>(text);
  merchant.changeNumber = BigInt(await nextChangeNumber(query));
  await em.flush();
}
