import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Capabilities, Change, HoldPhase, HoldStatus, ReleaseReason } from '../../domain/hold.ts';
import { cardColumns, sentColumns, sentIndexes, sentUniques } from '../submission/sent-columns.ts';

/** What an update can change of a hold. */
export type AskedTerms = Partial<Record<'description' | 'merchantReference' | 'captureAt' | 'releaseAt', string>> & {
  readonly metadata?: Record<string, string>;
};

/**
 * A hold. The CHECK constraints are the invariants of docs/product.md, "Books": the database refuses books that do not
 * add up, whatever the code above it believes.
 */
export const HoldEntity = defineEntity({
  name: 'Hold',
  tableName: 'hold',
  properties: {
    ...sentColumns(),
    /** What was asked for; `amount` is what it is now. Minor units, like every amount here. */
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
    /** SHA-256 of the preauthorizationId: how captures find the hold. */
    idHash: p.blob().unique().$type<Buffer>(),
    /** The preauthorizationId, encrypted. */
    idCiphertext: p.blob().$type<Buffer>(),
    /** Terms of the contract, as they were when the hold was placed. */
    allowMultipleCaptures: p.boolean(),
    notifyHolds: p.boolean(),
    holdPeriodS: p.integer(),
    merchantReference: p.text().nullable(),
    /** What it is for, in the merchant's words. */
    description: p.text().nullable(),
    /** False = the merchant initiated it. */
    customerPresent: p.boolean().default(false),
    expectedCaptureAt: p.datetime(3).nullable(),
    /**
     * When what remains is captured by itself; the capture that did it, and how many were tried because none before had
     * arrived.
     */
    captureAt: p.datetime(3).nullable(),
    autoCaptureId: p.uuid().nullable(),
    autoCaptureCount: p.integer().default(0),
    /** An end that the merchant chose, earlier than the period's. */
    releaseAt: p.datetime(3).nullable(),
    /**
     * The term of the contract: how long before its end the merchant is told; null = not, or told already. And when
     * that is.
     */
    notifyExpiringHours: p.integer().nullable(),
    notifyExpiringAt: p.datetime(3).nullable(),
    /** The hold that it renews, and whether that is still to be released. */
    renews: p.uuid().nullable(),
    releasesOld: p.boolean().default(false),
    /** What an update has changed, as it was asked for; null = nothing was changed. */
    asked: p.json().nullable().$type<AskedTerms>(),
    metadata: p.json().nullable().$type<Record<string, string>>(),
    returnUrl: p.text().nullable(),
    saveCard: p.boolean(),
    /** The checkout address carries a capability: encrypted. */
    checkoutUrlCiphertext: p.blob().nullable().$type<Buffer>(),
    checkoutExpiresAt: p.datetime(3).nullable(),
    ...cardColumns(),
    /** The token of a card saved at the checkout; null once purged. */
    generatedTokenId: p.text().nullable(),
    /** What the authorization can do, as the processor said when it approved it. */
    capabilities: p.json().nullable().$type<Capabilities>(),
    /**
     * The authorization ended at the processor by itself: what the rest is booked as, what was given back, and its
     * reference of that.
     */
    endedAs: p.text().nullable().$type<'RELEASED' | 'EXPIRED'>(),
    endedAmount: p.bigint('bigint').nullable(),
    endedReference: p.text().nullable(),
    /** How many notifications its results have made. */
    notificationCount: p.integer().default(0),
    placedAt: p.datetime(3).nullable(),
    expiresAt: p.datetime(3).nullable(),
    /** When it was to end as it was placed; null = that has not changed since. */
    firstExpiresAt: p.datetime(3).nullable(),
    closedAt: p.datetime(3).nullable(),
  },
  checks: [
    {
      name: 'hold_amount',
      expression:
        "amount_asked >= 1 and amount >= amount_asked and amount <= 999999999999 and (phase = 'AUTHORIZED' or amount " +
        '= amount_asked)',
    },
    {
      name: 'hold_books_balance',
      expression: "captured + in_flight + remaining + released = case phase when 'AUTHORIZED' then amount else 0 end",
    },
    {
      name: 'hold_counters_not_negative',
      expression: 'captured >= 0 and in_flight >= 0 and remaining >= 0 and released >= 0',
    },
    {
      name: 'hold_taken_back',
      expression: 'reversed >= 0 and refunded >= 0 and refunding >= 0 and reversed + refunded + refunding <= captured',
    },
    {
      name: 'hold_status',
      expression: "status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED', 'CAPTURED', 'RELEASED', 'EXPIRED', 'FAILED')",
    },
    {
      name: 'hold_phase',
      expression: "phase in ('AWAITING_CHECKOUT', 'AUTHORIZING', 'UNKNOWN', 'AUTHORIZED', 'FAILED', 'NEEDS_REVIEW')",
    },
    { name: 'hold_release_reason', expression: "release_reason in ('FINAL', 'RELEASED', 'EXPIRED')" },
    { name: 'hold_ended_as', expression: "ended_as in ('RELEASED', 'EXPIRED')" },
    { name: 'hold_ended_amount', expression: '(ended_as is null) = (ended_amount is null) and ended_amount >= 0' },
    { name: 'hold_failed', expression: "(status = 'FAILED') = (phase = 'FAILED')" },
    {
      name: 'hold_changing',
      expression: "changing is null or (changing in ('INCREMENT', 'EXTENSION') and phase = 'AUTHORIZED')",
    },
    {
      name: 'hold_placed_has_end',
      expression: "phase <> 'AUTHORIZED' or (placed_at is not null and expires_at is not null)",
    },
    {
      name: 'hold_closed_keeps_nothing',
      expression: "status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') or remaining = 0",
    },
  ],
  indexes: [
    { name: 'hold_by_merchant', properties: ['merchantId', 'requestId'] },
    { name: 'hold_by_user', properties: ['merchantId', 'userId', 'requestId'] },
    {
      name: 'hold_by_reference',
      properties: ['merchantId', 'merchantReference', 'requestId'],
      where: 'merchant_reference is not null',
    },
    {
      name: 'hold_open_by_end',
      properties: ['expiresAt'],
      where: "status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED'",
    },
    {
      name: 'hold_open_ended',
      properties: ['requestId'],
      where: "ended_as is not null and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED')",
    },
    {
      name: 'hold_open_by_release',
      properties: ['releaseAt'],
      where: "release_at is not null and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED'",
    },
    {
      name: 'hold_to_capture',
      properties: ['captureAt'],
      where:
        "capture_at is not null and auto_capture_id is null and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and " +
        "phase = 'AUTHORIZED'",
    },
    {
      name: 'hold_expiring',
      properties: ['notifyExpiringAt'],
      where:
        "notify_expiring_at is not null and status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED'",
    },
    { name: 'hold_releases_old', properties: ['requestId'], where: 'releases_old' },
    { name: 'hold_open_checkout', properties: ['checkoutExpiresAt'], where: "phase = 'AWAITING_CHECKOUT'" },
    { name: 'hold_token_age', properties: ['createdAt'], where: 'generated_token_id is not null' },
    ...sentIndexes('hold', "frozen or phase in ('UNKNOWN', 'NEEDS_REVIEW')"),
  ],
  uniques: sentUniques('hold'),
});
export type HoldRow = InferEntity<typeof HoldEntity>;
