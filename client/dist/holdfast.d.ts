import type { Routes } from './api.ts';
import { HoldfastError } from './refusal.ts';
import { type CallOptions, type TryReport } from './send.ts';
import { type CaptureSigner } from './sign-capture.ts';
import { type StreamEvent, type WatchOptions } from './watch.ts';
export { HoldfastError };
export interface HoldfastOptions {
    /** Where the gateway is, such as https://pay.example. */
    readonly baseUrl: string;
    readonly apiKey: string;
    /** For merchants whose contract demands signed captures. */
    readonly signCaptures?: CaptureSigner;
    /** Hears of each try; never a key, a body or a query. */
    readonly onRequest?: (report: TryReport) => void;
    /** Replaces the global fetch. */
    readonly fetch?: typeof globalThis.fetch;
}
/** Options of a write. */
export interface WriteOptions extends CallOptions {
    /** Names what is to be done once; a write with the key of an earlier one gets that one's answer. Drawn when absent. */
    readonly idempotencyKey?: string;
}
/** A write that was done: the answer, and under which key. */
export type Done<T> = T & {
    readonly outcome: 'done';
    readonly idempotencyKey: string;
    readonly replayed: boolean;
};
/**
 * The time was over before there was an outcome: it may have been done, or will be. Call again with the same `idempotencyKey`, ask for the
 * operation `requestId`, or wait for its notification.
 */
export interface Unknown {
    readonly outcome: 'unknown';
    readonly idempotencyKey: string;
    /** Absent when no answer named it. */
    readonly requestId?: string | undefined;
}
type Answer<Name extends keyof Routes> = Routes[Name]['answer'];
type Body<Name extends keyof Routes> = Routes[Name]['body'];
type Filter<Name extends keyof Routes> = Routes[Name]['query'];
/** Of a list: its filters, where to begin, and how long each page may take. */
type ListOptions<Name extends keyof Routes> = Filter<Name> & CallOptions;
/** The merchant's routes, one method each. Every method throws HoldfastError when the call is refused. */
export declare class Holdfast {
    #private;
    constructor({ baseUrl, apiKey, signCaptures, onRequest, fetch }: HoldfastOptions);
    /** Holds (preauthorizations). */
    readonly holds: {
        /** Places a hold; without `tokenId` it answers a `checkoutUrl`. */
        create: (hold: Body<'createPreauthorization'>, options?: WriteOptions) => Promise<Unknown | Done<import("./api.ts").Hold | import("./api.ts").OpenCheckout>>;
        /** Charges a hold, in full or in part. */
        capture: (capture: Body<'capturePreauthorization'>, options?: WriteOptions) => Promise<Unknown | Done<import("./api.ts").Capture>>;
        /** Gives back what remains of a hold, or cancels its checkout. */
        release: (release: Body<'releasePreauthorization'>, options?: WriteOptions) => Promise<Unknown | Done<import("./api.ts").ReleasedHold>>;
        /** Looks up a hold with its newest captures. */
        get: (requestId: string, options?: CallOptions) => Promise<import("./api.ts").HoldWithCaptures>;
        /** Iterates over holds, newest first. */
        list: (filter?: ListOptions<'listPreauthorizations'>) => AsyncGenerator<import("./api.ts").ListedHold, void, undefined>;
    };
    /** Payments to a card. */
    readonly octs: {
        create: (oct: Body<'createOct'>, options?: WriteOptions) => Promise<Unknown | Done<import("./api.ts").Oct>>;
        get: (requestId: string, options?: CallOptions) => Promise<import("./api.ts").Oct>;
    };
    /** Operations: every attempt with its one final result. */
    readonly operations: {
        get: (requestId: string, options?: CallOptions) => Promise<import("./api.ts").Operation>;
        /** Iterates over final results, newest first. */
        list: (filter?: ListOptions<'listOperations'>) => AsyncGenerator<import("./api.ts").Operation, void, undefined>;
        /** Iterates over results as they become final, in their order, for ever: it resumes by itself and skips none. */
        watch: (options?: WatchOptions) => AsyncGenerator<StreamEvent<Answer<'getOperation'>>, void, undefined>;
    };
    /** Deliveries of notifications. These and what follows need an API key that manages the webhook. */
    readonly deliveries: {
        get: (deliveryId: string, options?: CallOptions) => Promise<import("./api.ts").WholeDelivery>;
        /** Iterates over deliveries, newest first. */
        list: (filter?: ListOptions<'listOwnDeliveries'>) => AsyncGenerator<import("./api.ts").Delivery, void, undefined>;
        /** Makes due now what was not delivered since a time. */
        recover: (range: Body<'recoverOwnDeliveries'>, options?: CallOptions) => Promise<import("./api.ts").RecoveredDeliveries>;
        /** Sends a delivery again. */
        replay: (deliveryId: string, options?: CallOptions) => Promise<import("./api.ts").DeliveryWithAttempts>;
    };
    /** Where notifications go. */
    readonly webhookEndpoint: {
        get: (options?: CallOptions) => Promise<import("./api.ts").WebhookEndpoint>;
        /** Sets the address; null = none. */
        set: (endpoint: Body<'setWebhookEndpoint'>, options?: CallOptions) => Promise<import("./api.ts").WebhookEndpoint>;
        /** Sends a test notification. */
        test: (options?: CallOptions) => Promise<import("./api.ts").Delivery>;
    };
    /** What signs notifications. */
    readonly signingSecrets: {
        /** Adds a second secret; it is shown once. */
        add: (options?: CallOptions) => Promise<import("./api.ts").CreatedSigningSecret>;
        /** Ends a secret; not the last one. */
        retire: (signingSecretId: string, options?: CallOptions) => Promise<null>;
    };
}
