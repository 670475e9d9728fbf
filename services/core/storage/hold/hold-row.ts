import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { FrozenBecause } from '../../domain/contradiction.ts';
import type { Capabilities, Change, HoldPhase, HoldStatus, ReleaseReason } from '../../domain/hold-rules.ts';
import type { NewRow } from '../input-columns.ts';
import { cardColumns, sentColumns } from '../submission/sent-columns.ts';

/** Why a merchant places a hold without the customer: names of MerchantReason, in both contracts. */
export const MERCHANT_REASONS = [
  'UNSCHEDULED',
  'DELAYED_CHARGE',
  'NO_SHOW',
  'RESUBMISSION',
  'REAUTHORIZATION',
] as const;
export type MerchantReason = (typeof MERCHANT_REASONS)[number];

/** The fields of a hold that an update can change. */
export type AskedTerms = Partial<
  Record<'description' | 'merchantReference' | 'captureAt' | 'releaseAt' | 'keepUntil', string>
> & {
  readonly metadata?: Record<string, string>;
};

/**
 * A hold. The CHECK constraints are the invariants of docs/product.md, "Books": the database refuses books that do not
 * add up, even if the code above would allow it. Pages keep room (fillfactor), so that reserving an amount changes no
 * index.
 */
export const HoldEntity = defineEntity({
  name: 'Hold',
  tableName: 'hold',
  properties: {
    ...sentColumns(),
    /** The amount asked for; `amount` is the present one. All amounts here are in minor units. */
    amountAsked: p.bigint('bigint'),
    terminalId: p.text(),
    userId: p.text(),
    /** The card token it was placed with; absent after a checkout. */
    tokenId: p.text().nullable(),
    status: p.text().$type<HoldStatus>(),
    phase: p.text().$type<HoldPhase>(),
    captured: p.bigint('bigint'),
    inFlight: p.bigint('bigint'),
    remaining: p.bigint('bigint'),
    released: p.bigint('bigint'),
    /** The part of captured that the card scheme took back. */
    reversed: p.bigint('bigint'),
    /** The part of captured that refunds gave back, and what refunds without a result have reserved of it. */
    refunded: p.bigint('bigint').defaultRaw('0'),
    refunding: p.bigint('bigint').defaultRaw('0'),
    releaseReason: p.text().nullable().$type<ReleaseReason>(),
    /** A capture or release without a result that, when it succeeds, leaves nothing to capture. */
    closing: p.boolean(),
    /** An increment or an extension without a result; null = none. */
    changing: p.text().nullable().$type<Change>(),
    /** A contradicting event was seen: captures and releases are rejected until an operator unfreezes it. */
    frozen: p.boolean(),
    /** Why; null = it is not frozen, or was by a release that did not keep it. */
    frozenBecause: p.text().nullable().$type<FrozenBecause>(),
    /** SHA-256 of the preauthorizationId: how captures find the hold. */
    idHash: p.blob().unique().$type<Buffer>(),
    /** The id of the key of ENCRYPTION_KEYS that the preauthorizationId follows from. */
    idKey: p.text(),
    /** Terms of the contract, as they were when the hold was placed. */
    allowMultipleCaptures: p.boolean(),
    notifyHolds: p.boolean(),
    holdPeriodS: p.integer(),
    merchantReference: p.text().nullable(),
    /** The purpose, in the merchant's words. */
    description: p.text().nullable(),
    /** False = the merchant initiated it. */
    customerPresent: p.boolean().default(false),
    /** Why the merchant initiated it, and the network transaction id that was sent with it. */
    merchantReason: p.text().nullable().$type<MerchantReason>(),
    sentNetworkTransactionId: p.text().nullable(),
    /** The card network's own identifier of it. */
    networkTransactionId: p.text().nullable(),
    expectedCaptureAt: p.datetime(3).nullable(),
    /** When what remains is captured by itself; the capture that did it; how many were tried, as some never arrive. */
    captureAt: p.datetime(3).nullable(),
    autoCaptureId: p.uuid().nullable(),
    autoCaptureCount: p.integer().default(0),
    /** An end that the merchant chose, earlier than the period's. */
    releaseAt: p.datetime(3).nullable(),
    /** Until when it renews itself, and when it does next; null = never. */
    keepUntil: p.datetime(3).nullable(),
    renewAt: p.datetime(3).nullable(),
    /** The RENEWAL that has no result yet. */
    renewalId: p.uuid().nullable(),
    /** The RENEWAL whose authorization it has now; null = its own placing. */
    authorizationId: p.uuid().nullable(),
    /** The authorization that is to be given back, for which no void is stored yet: its own requestId, or a RENEWAL's. */
    toVoid: p.uuid().nullable(),
    /** Hours before its end at which the contract has the merchant notified, and that time; null = never, or done. */
    notifyExpiringHours: p.integer().nullable(),
    notifyExpiringAt: p.datetime(3).nullable(),
    /** The hold that it renews, and whether that is still to be released. */
    renews: p.uuid().nullable(),
    releasesOld: p.boolean().default(false),
    /** The last hold that renews this one. */
    renewedBy: p.uuid().nullable(),
    /** The values of the last update, as asked for; null = none. */
    asked: p.json().nullable().$type<AskedTerms>(),
    metadata: p.json().nullable().$type<Record<string, string>>(),
    returnUrl: p.text().nullable(),
    saveCard: p.boolean(),
    /** True = the issuer authenticates the customer in any case; null = when it asks for it. */
    challenge: p.boolean().nullable(),
    /**
     * The page where the customer enters a card, or with a tokenId is authenticated by its issuer. Its address carries
     * a capability: encrypted.
     */
    checkoutUrlCiphertext: p.blob().nullable().$type<Buffer>(),
    checkoutExpiresAt: p.datetime(3).nullable(),
    ...cardColumns(),
    /** The token of a card saved at the checkout; null once purged. */
    generatedTokenId: p.text().nullable(),
    /** The abilities of the authorization, as the processor stated them with its approval. */
    capabilities: p.json().nullable().$type<Capabilities>(),
    /** The end of the authorization at the processor: outcome of the rest, amount given back, and reference. */
    endedAs: p.text().nullable().$type<'RELEASED' | 'EXPIRED'>(),
    endedAmount: p.bigint('bigint').nullable(),
    endedReference: p.text().nullable(),
    /** Number of notifications of its results. */
    notificationCount: p.integer().default(0),
    placedAt: p.datetime(3).nullable(),
    expiresAt: p.datetime(3).nullable(),
    /** When it was to end as it was placed; null = that has not changed since. */
    firstExpiresAt: p.datetime(3).nullable(),
    /** How long the card scheme guarantees it, never after expiresAt, and how long it did as it was placed. */
    guaranteedUntil: p.datetime(3).nullable(),
    firstGuaranteedUntil: p.datetime(3).nullable(),
    closedAt: p.datetime(3).nullable(),
  },
});
export type HoldRow = InferEntity<typeof HoldEntity>;
/** A hold whose null fields may be absent. */
export type WrittenHold = NewRow<HoldRow, keyof HoldRow>;
