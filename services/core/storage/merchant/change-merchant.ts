import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { drawId } from '../../../../platform/draw-id.ts';
import { actorOfCall } from '../audit-log/actor.ts';
import { AuditEntryEntity, type AuditedAction } from '../audit-log/audit-log.ts';
import { ormTransaction } from '../bound-change.ts';
import type { OrmDatabase, Statement } from '../database.ts';
import type { EndpointId } from '../delivery/delivery-row.ts';
import { EndpointEntity, endpointName, FRESH } from '../endpoint/endpoint-row.ts';
import {
  ApiKeyEntity,
  type ApiKeyRow,
  nextChangeNumber,
  SigningSecretEntity,
  type SigningSecretRow,
} from './credential-rows.ts';
import { MerchantEntity, type MerchantRow } from './merchant-row.ts';
import { type MerchantWithCredentials, withCredentials } from './read-merchants.ts';

/** The terms of a merchant that an operator can change. */
export type MerchantTerms = Omit<MerchantRow, 'id' | 'createdAt' | 'changeNumber' | 'hasEndpoints'>;

/** Stores a merchant with its first API key and signing secret. Returns undefined when its id is taken. */
export async function insertMerchant(
  database: OrmDatabase,
  merchant: Omit<MerchantRow, 'changeNumber' | 'hasEndpoints'>,
  apiKey: ApiKeyRow,
  signingSecret: SigningSecretRow,
): Promise<MerchantWithCredentials | undefined> {
  try {
    return await ormTransaction(database, async (em) => {
      const created = em.create(MerchantEntity, { ...merchant, changeNumber: 0n });
      em.create(ApiKeyEntity, apiKey);
      em.create(SigningSecretEntity, signingSecret);
      const { id, createdAt, ...after } = merchant;
      const { id: apiKeyId, last4, managesWebhook } = apiKey;
      const detail = { after, apiKeyId, last4, managesWebhook, signingSecretId: signingSecret.id };
      await record(em, created, { at: createdAt, action: 'merchant.create', target: id, detail });
      return readBack(em, created);
    });
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) return undefined;
    throw error;
  }
}

/** A merchant after a change of its terms. */
export interface UpdatedMerchant extends MerchantWithCredentials {
  /** The endpoints that have another address now. */
  readonly moved: readonly EndpointId[];
}

/**
 * Replaces the given terms of a merchant. Ends the pauses of endpoints whose URL changes, and of those in `resume`:
 * they were about the old addresses. CHANGED = its change number is not `expected`.
 */
export function updateMerchant(
  database: OrmDatabase,
  merchantId: string,
  terms: Partial<MerchantTerms>,
  at: Date,
  { expected, resume = [] }: { readonly expected?: string | undefined; readonly resume?: readonly EndpointId[] } = {},
): Promise<UpdatedMerchant | 'NOT_FOUND' | 'CHANGED'> {
  const detail: { before?: object; after?: object } = {};
  return changeMerchant<UpdatedMerchant, 'CHANGED'>(
    database,
    { at, action: 'merchant.update', target: merchantId, detail },
    async (em, merchant) => {
      if (expected !== undefined && expected !== String(merchant.changeNumber)) return 'CHANGED';
      Object.assign(detail, changesOf(merchant, terms));
      const isMoved = (name: keyof MerchantTerms) => terms[name] != null && terms[name] !== merchant[name];
      const moved = (['webhook', 'internal'] as const).filter((kind) => isMoved(`${kind}Url`));
      await endOwnPauses(em, merchantId, [...moved, ...resume], at);
      em.assign(merchant, terms);
      return { ...(await readBack(em, merchant)), moved };
    },
  );
}

/** Ends pauses by failures or by a 410; one by an operator stays. Each is audited. */
export async function endOwnPauses(em: SqlEntityManager, merchantId: string, ids: readonly EndpointId[], at: Date) {
  const caused = { merchantId, endpointId: { $in: ids }, pause: { $in: ['GONE', 'BREAKER'] as const } };
  for (const endpoint of await em.find(EndpointEntity, caused, { lockMode: LockMode.PESSIMISTIC_WRITE })) {
    const detail = { before: { pause: endpoint.pause }, after: { pause: FRESH.pause } };
    const action = { at, action: 'endpoint.resume', target: endpointName(endpoint), detail };
    em.create(AuditEntryEntity, { id: drawId(), actor: actorOfCall(), ...action });
    em.assign(endpoint, { ...FRESH, told: null, changedAt: at });
  }
  // By themselves they are no change of the merchant.
  await em.flush();
}

/** The terms that differ, with their old and their new values. Nothing of a contract is secret. */
function changesOf(merchant: MerchantRow, terms: Partial<MerchantTerms>): { before: object; after: object } {
  const names = (Object.keys(terms) as (keyof MerchantTerms)[]).filter(
    (name) => !isDeepStrictEqual(merchant[name], terms[name]),
  );
  const of = (row: Partial<MerchantTerms>) => Object.fromEntries(names.map((name) => [name, row[name]]));
  return { before: of(merchant), after: of(terms) };
}

/**
 * Changes a merchant, its keys or its secrets in one transaction, with an audit entry and a new change number, by which
 * every gateway learns of the change. `action.target` is the merchant, whose row is locked. Nothing is audited when the
 * change is refused (it returns a word) or leaves every row as it is (a repetition).
 */
export function changeMerchant<Changed extends object, Refusal extends string = never>(
  database: OrmDatabase,
  action: AuditedAction,
  change: (em: SqlEntityManager, merchant: MerchantRow) => Promise<Changed | Refusal>,
): Promise<Changed | Refusal | 'NOT_FOUND'> {
  return ormTransaction(database, async (em) => {
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const merchant = await em.findOne(MerchantEntity, { id: action.target }, { lockMode });
    if (!merchant) return 'NOT_FOUND';
    const changed = await change(em, merchant);
    if (typeof changed !== 'string' && (await changesSomething(em))) await record(em, merchant, action);
    return changed;
  });
}

async function changesSomething(em: SqlEntityManager): Promise<boolean> {
  const work = em.getUnitOfWork();
  work.computeChangeSets();
  return work.getChangeSets().length > 0;
}

/** Writes the audit entry, then the change number, last before the commit because that takes a lock. */
async function record(em: SqlEntityManager, merchant: MerchantRow, action: AuditedAction): Promise<void> {
  em.create(AuditEntryEntity, { id: drawId(), actor: actorOfCall(), detail: null, ...action });
  await em.flush();
  // The ORM runs this in its own transaction, and returns int8 as text.
  const query = async <Row extends object>({ text }: Statement) => em.execute<Row[]>(text);
  merchant.changeNumber = BigInt(await nextChangeNumber(query));
  await em.flush();
}

async function readBack(em: SqlEntityManager, merchant: MerchantRow): Promise<MerchantWithCredentials> {
  const [read] = await withCredentials(em, [merchant]);
  assert(read);
  return read;
}
