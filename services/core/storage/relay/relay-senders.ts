import type { SqlEntityManager } from '@mikro-orm/postgresql';
import type { OrmDatabase } from '../database.ts';
import { changeMerchant } from '../merchant/change-merchant.ts';
import { entityManager } from '../orm.ts';
import {
  RelayKeyEntity,
  type RelayKeyRow,
  RelaySenderEntity,
  type RelaySenderRow,
  type SenderWithKeys,
} from './relay-rows.ts';

/** Each adds to the feed of every gateway. */
const MOST_SENDERS = 10;

/** Names a sender of a merchant. */
export type SenderKey = Readonly<Pick<RelaySenderRow, 'id' | 'merchantId'>>;

/** The settings that an update replaces. */
export type SenderSettings = Omit<RelaySenderRow, 'id' | 'merchantId' | 'scheme' | 'createdAt' | symbol>;

/** Lists the senders of a merchant, oldest first. */
export function listSenders(database: OrmDatabase, merchantId: string): Promise<SenderWithKeys[]> {
  return read(entityManager(database), { merchantId });
}

/** Reads one sender of a merchant. */
export async function readSender(database: OrmDatabase, key: SenderKey): Promise<SenderWithKeys | undefined> {
  return (await read(entityManager(database), { ...key }))[0];
}

async function read(em: SqlEntityManager, where: Partial<SenderKey>): Promise<SenderWithKeys[]> {
  const oldest = { orderBy: { id: 'asc' } } as const;
  const senders = await em.find(RelaySenderEntity, where, oldest);
  const found = await em.find(RelayKeyEntity, { senderId: { $in: senders.map(({ id }) => id) } }, oldest);
  const keys = Map.groupBy(found, ({ senderId }) => senderId);
  return senders.map((sender) => ({ sender, keys: keys.get(sender.id) ?? [] }));
}

/** Stores a new sender with its keys. TOO_MANY = the merchant has MOST_SENDERS. */
export function addSender(database: OrmDatabase, sender: RelaySenderRow, keys: readonly RelayKeyRow[]) {
  const { id: senderId, merchantId, createdAt: at } = sender;
  const action = { at, action: 'relay-sender.create', target: merchantId, detail: { senderId, ...named(sender) } };
  return changeMerchant<SenderWithKeys, 'TOO_MANY'>(database, action, async (em) => {
    if ((await em.count(RelaySenderEntity, { merchantId })) >= MOST_SENDERS) return 'TOO_MANY';
    for (const key of keys) em.create(RelayKeyEntity, key);
    return { sender: em.create(RelaySenderEntity, sender), keys };
  });
}

/**
 * Replaces a sender's settings. `keysOf` returns its keys from now on, given those that it has; those left out are
 * deleted.
 */
export function updateSender(
  database: OrmDatabase,
  key: SenderKey,
  settings: SenderSettings,
  keysOf: (before: readonly RelayKeyRow[]) => readonly RelayKeyRow[],
  at: Date,
) {
  const { id: senderId, merchantId } = key;
  const detail: Record<string, unknown> = { senderId };
  const action = { at, action: 'relay-sender.update', target: merchantId, detail };
  return changeMerchant<SenderWithKeys, 'NOT_FOUND'>(database, action, async (em) => {
    const [found] = await read(em, { ...key });
    if (!found) return 'NOT_FOUND';
    const { sender, keys: before } = found;
    em.assign(sender, settings);
    Object.assign(detail, named(sender));
    const keys = keysOf(before);
    for (const gone of before) if (!keys.includes(gone)) em.remove(gone);
    for (const added of keys) if (!before.includes(added)) em.create(RelayKeyEntity, added);
    return { sender, keys };
  });
}

/** Removes a sender and its keys. */
export function removeSender(database: OrmDatabase, key: SenderKey, at: Date) {
  const detail: Record<string, unknown> = { senderId: key.id };
  const action = { at, action: 'relay-sender.delete', target: key.merchantId, detail };
  return changeMerchant<SenderWithKeys, 'NOT_FOUND'>(database, action, async (em) => {
    const [found] = await read(em, { ...key });
    if (!found) return 'NOT_FOUND';
    Object.assign(detail, named(found.sender));
    for (const row of [found.sender, ...found.keys]) em.remove(row);
    return found;
  });
}

function named({ name, scheme }: RelaySenderRow) {
  return { name, scheme };
}
