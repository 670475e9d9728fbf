/**
 * The service for a merchant's backend. A write is done at most once, however often it is sent; what cannot be known is
 * answered as `outcome: 'unknown'`, never as a failure.
 */
import { randomUUID } from 'node:crypto';
import type { Routes } from './api.ts';
import type { Call, CallOptions, Connection, TryReport } from './call.ts';
import type { CreateHold, DoneCapture, PlacedHold, Unknown, WriteOptions, Written } from './outcome.ts';
import { HoldfastError } from './refusal.ts';
import { send } from './send.ts';
import { type CaptureSigner, captureSignature } from './sign-capture.ts';
import { type StreamEvent, type WatchOptions, watch } from './watch.ts';

export type { Done, DoneCapture, PlacedHold, Unknown, WriteOptions } from './outcome.ts';
export { HoldfastError };

export interface HoldfastOptions {
  /** The gateway's URL, such as https://pay.example. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** For merchants whose contract demands signed captures. */
  readonly signCaptures?: CaptureSigner;
  /** Called after each try; never with a key, a body or a query. */
  readonly onRequest?: (report: TryReport) => void;
  /** Replaces the global fetch. */
  readonly fetch?: typeof globalThis.fetch;
}

type Answer<Name extends keyof Routes> = Routes[Name]['answer'];
type Body<Name extends keyof Routes> = Routes[Name]['body'];
type Filter<Name extends keyof Routes> = Routes[Name]['query'];
type ItemOf<Page> = Page extends { items: (infer Item)[] } ? Item : never;
/** Of a list: its filters, where to begin, and how long each page may take. */
type ListOptions<Name extends keyof Routes> = Filter<Name> & CallOptions;

/** The merchant's routes, one method each. Every method throws HoldfastError when the call is refused. */
export class Holdfast {
  readonly #connection: Connection;
  readonly #signer: CaptureSigner | undefined;

  /** Throws HoldfastError WRONG_OPTION. */
  constructor({ baseUrl, apiKey, signCaptures, onRequest, fetch = globalThis.fetch }: HoldfastOptions) {
    const { protocol, origin, pathname } = URL.canParse(baseUrl) ? new URL(baseUrl) : ({} as Partial<URL>);
    if (origin === undefined || pathname === undefined || !/^https?:$/.test(protocol ?? ''))
      throw new HoldfastError('WRONG_OPTION', `baseUrl ${baseUrl} is no address: write it such as https://pay.example`);
    if (!/^[\x21-\x7E]+$/.test(apiKey))
      throw new HoldfastError('WRONG_OPTION', 'apiKey is empty, or has characters that no API key has');
    this.#connection = { baseUrl: `${origin}${pathname.replace(/\/$/, '')}`, apiKey, fetch, onRequest };
    this.#signer = signCaptures;
  }

  /** Holds (preauthorizations). */
  readonly holds = {
    /** Places a hold. The customer is to go to `checkoutUrl` (without `tokenId`), or to the `url` of a `nextAction`. */
    create: ((hold: Body<'createPreauthorization'>, options?: WriteOptions) =>
      this.#write<'createPreauthorization'>('/preauthorization', hold, options)) as CreateHold,
    /** Charges a hold, in full or in part. */
    capture: (capture: Body<'capturePreauthorization'>, options?: WriteOptions) =>
      this.#write<'capturePreauthorization', DoneCapture>('/preauthorization/authorization', capture, options),
    /** Adds to a hold. */
    increment: (increment: Body<'incrementPreauthorization'>, options?: WriteOptions) =>
      this.#write<'incrementPreauthorization'>('/preauthorization/increment', increment, options),
    /** Lets a hold end later. */
    extend: (extension: Body<'extendPreauthorization'>, options?: WriteOptions) =>
      this.#write<'extendPreauthorization'>('/preauthorization/extend', extension, options),
    /** Gives back what remains of a hold, or the part `amountToRelease`, or cancels its checkout or step-up. */
    release: (release: Body<'releasePreauthorization'>, options?: WriteOptions) =>
      this.#write<'releasePreauthorization'>('/preauthorization/release', release, options),
    /** Changes what a hold is for, or when it is captured or ends by itself; null takes a field back. */
    update: (requestId: string, changes: Body<'updatePreauthorization'>, options?: CallOptions) =>
      this.#change<'updatePreauthorization'>('PATCH', path('/preauthorization', requestId), changes, options),
    /** Places a hold like an earlier one, for what remained of it. */
    renew: (renewal: Body<'renewPreauthorization'>, options?: WriteOptions) =>
      this.#write<'renewPreauthorization', PlacedHold>('/preauthorization/renew', renewal, options),
    /** Looks up a hold with its newest captures. */
    get: (requestId: string, options?: CallOptions) =>
      this.#read<'getPreauthorization'>(path('/preauthorization', requestId), options),
    /** Iterates over holds, newest first. */
    list: (filter: ListOptions<'listPreauthorizations'> = {}) =>
      this.#list<'listPreauthorizations'>('/preauthorization', filter),
  };

  /** Refunds of captures. */
  readonly refunds = {
    /** Gives a capture back; without `amount` all that is left of it. */
    create: (refund: Body<'createRefund'>, options?: WriteOptions) =>
      this.#write<'createRefund'>('/refund', refund, options),
    get: (requestId: string, options?: CallOptions) => this.#read<'getRefund'>(path('/refund', requestId), options),
  };

  /** Payments to a card. */
  readonly octs = {
    create: (oct: Body<'createOct'>, options?: WriteOptions) => this.#write<'createOct'>('/oct', oct, options),
    get: (requestId: string, options?: CallOptions) => this.#read<'getOct'>(path('/oct', requestId), options),
  };

  /** Operations: every attempt with its one final result. */
  readonly operations = {
    get: (requestId: string, options?: CallOptions) =>
      this.#read<'getOperation'>(path('/operations', requestId), options),
    /** Iterates over final results, newest first. */
    list: (filter: ListOptions<'listOperations'> = {}) => this.#list<'listOperations'>('/operations', filter),
    /** Iterates over results as they become final, in their order, for ever: it resumes by itself and skips none. */
    watch: (options?: WatchOptions): AsyncGenerator<StreamEvent<Answer<'getOperation'>>, void, undefined> =>
      watch(this.#connection, '/operations/stream', options),
  };

  /** The merchant's own terms. */
  readonly contract = {
    get: (options?: CallOptions) => this.#read<'getContract'>('/contract', options),
  };

  /** Deliveries of notifications. These and what follows need an API key that manages the webhook. */
  readonly deliveries = {
    get: (deliveryId: string, options?: CallOptions) =>
      this.#read<'getOwnDelivery'>(path('/deliveries', deliveryId), options),
    /** Iterates over deliveries, newest first. */
    list: (filter: ListOptions<'listOwnDeliveries'> = {}) => this.#list<'listOwnDeliveries'>('/deliveries', filter),
    /** Makes due at once the undelivered notifications since a time. */
    recover: (range: Body<'recoverOwnDeliveries'>, options?: CallOptions) =>
      this.#change<'recoverOwnDeliveries'>('POST', '/deliveries/recover', range, options),
    /** Sends a delivery again. */
    replay: (deliveryId: string, options?: CallOptions) =>
      this.#change<'replayOwnDelivery'>('POST', `${path('/deliveries', deliveryId)}/replay`, {}, options),
  };

  /** The destination of notifications. */
  readonly webhookEndpoint = {
    get: (options?: CallOptions) => this.#read<'getWebhookEndpoint'>('/webhook-endpoint', options),
    /** Sets the address; null = none. */
    set: (endpoint: Body<'setWebhookEndpoint'>, options?: CallOptions) =>
      this.#change<'setWebhookEndpoint'>('PUT', '/webhook-endpoint', endpoint, options),
    /** Sends a test notification. */
    test: (options?: CallOptions) =>
      this.#change<'sendTestNotification'>('POST', '/webhook-endpoint/test', {}, options),
  };

  /** All endpoints that get notifications; `default` is the webhook endpoint. */
  readonly webhookEndpoints = {
    /** Adds an endpoint; its signing secret is shown once. */
    create: (endpoint: Body<'createWebhookEndpoint'>, options?: CallOptions) =>
      this.#change<'createWebhookEndpoint'>('POST', '/webhook-endpoints', endpoint, options),
    get: (endpointId: string, options?: CallOptions) =>
      this.#read<'getFurtherEndpoint'>(path('/webhook-endpoints', endpointId), options),
    /** Iterates over them, with their health. */
    list: (options: CallOptions = {}) => this.#list<'listWebhookEndpoints'>('/webhook-endpoints', options),
    /** Changes the given settings; null = as if it had not been set. */
    update: (endpointId: string, settings: Body<'updateWebhookEndpoint'>, options?: CallOptions) =>
      this.#change<'updateWebhookEndpoint'>('PATCH', path('/webhook-endpoints', endpointId), settings, options),
    /** Removes an endpoint; throws OPERATION_NOT_FOUND once it is removed. */
    remove: (endpointId: string, options?: CallOptions) =>
      this.#change<'deleteWebhookEndpoint'>('DELETE', path('/webhook-endpoints', endpointId), undefined, options),
    /** Sends a test notification. */
    test: (endpointId: string, options?: CallOptions) =>
      this.#change<'testWebhookEndpoint'>('POST', `${path('/webhook-endpoints', endpointId)}/test`, {}, options),
    /** Adds a second secret; it is shown once. */
    addSecret: (endpointId: string, options?: CallOptions) =>
      this.#change<'addEndpointSecret'>('POST', secretsOf(endpointId), {}, options),
    /** Ends a secret; not the last one. */
    retireSecret: (endpointId: string, signingSecretId: string, options?: CallOptions) =>
      this.#change<'retireEndpointSecret'>('DELETE', path(secretsOf(endpointId), signingSecretId), undefined, options),
  };

  /** Notifications as they happen, also while there is no address for them. */
  readonly notifications = {
    /**
     * Iterates over notifications as they would be sent now, for ever: it resumes by itself and skips none. Verify them
     * as a receiver does.
     */
    watch: (options?: WatchOptions): AsyncGenerator<StreamEvent<Answer<'watchNotifications'>>, void, undefined> =>
      watch(this.#connection, '/notifications/stream', options),
  };

  /** The secrets that sign notifications. */
  readonly signingSecrets = {
    /** Adds a second secret; it is shown once. */
    add: (options?: CallOptions) => this.#change<'addOwnSigningSecret'>('POST', '/signing-secrets', {}, options),
    /** Ends a secret; not the last one. */
    retire: (signingSecretId: string, options?: CallOptions) =>
      this.#change<'retireOwnSigningSecret'>('DELETE', path('/signing-secrets', signingSecretId), undefined, options),
  };

  /** What the relay has verified, of any sender. */
  readonly relayedNotifications = {
    /**
     * Iterates over notifications in the order in which they were stored, for ever: it resumes by itself and skips none.
     * With `senderId` only those of one sender.
     */
    watch: ({
      senderId,
      ...options
    }: WatchOptions & { readonly senderId?: string } = {}): AsyncGenerator<
      StreamEvent<Answer<'watchRelayedNotifications'>>,
      void,
      undefined
    > => {
      const ofSender = senderId === undefined ? '' : `?senderId=${encodeURIComponent(senderId)}`;
      return watch(this.#connection, `/relayed-notifications/stream${ofSender}`, options);
    },
  };

  /** The merchant's other systems whose notifications the relay takes. */
  readonly relaySenders = {
    list: (options?: CallOptions) => this.#read<'listRelaySenders'>('/relay-senders', options),
    get: (senderId: string, options?: CallOptions) =>
      this.#read<'getRelaySender'>(path('/relay-senders', senderId), options),
    /** Adds a sender; its notifications go to `/webhook/relay/{senderId}`. */
    create: (sender: Body<'createRelaySender'>, options?: CallOptions) =>
      this.#change<'createRelaySender'>('POST', '/relay-senders', sender, options),
    /** Replaces the settings, and the keys when some are given. */
    update: (senderId: string, sender: Body<'updateRelaySender'>, options?: CallOptions) =>
      this.#change<'updateRelaySender'>('PUT', path('/relay-senders', senderId), sender, options),
    delete: (senderId: string, options?: CallOptions) =>
      this.#change<'deleteRelaySender'>('DELETE', path('/relay-senders', senderId), undefined, options),
  };

  /** What the relay could not verify. */
  readonly relayFailures = {
    /** Iterates over failures, newest first. `explain` says what had to be signed, and what was. */
    list: (filter: ListOptions<'listRelayFailures'> = {}) => this.#list<'listRelayFailures'>('/relay/failures', filter),
  };

  async #write<Name extends keyof Routes, IsDone extends Answer<Name> = Answer<Name>>(
    to: string,
    body: Body<Name>,
    { idempotencyKey = randomUUID(), ...options }: WriteOptions = {},
  ): Written<IsDone> {
    if (!/^[\x21-\x7E]{1,255}$/.test(idempotencyKey))
      throw new HoldfastError('WRONG_OPTION', 'idempotencyKey must be 1 to 255 visible ASCII characters');
    const signer = to === '/preauthorization/authorization' ? this.#signer : undefined;
    const sign = signer && ((text: string, key: string) => captureSignature(signer, text, key));
    const call = { method: 'POST', path: to, body: body as object, repeatable: 'KEYED', idempotencyKey, sign } as const;
    const end = await send(this.#connection, call, options);
    if (end.isKnown)
      return { ...(end.body as IsDone & object), outcome: 'done', idempotencyKey, replayed: end.replayed } as never;
    const unknown: Unknown = {
      outcome: 'unknown',
      idempotencyKey,
      requestId: end.requestId,
      reason: end.error.message,
    };
    return unknown;
  }

  #read<Name extends keyof Routes>(from: string, options?: CallOptions): Promise<Answer<Name>> {
    return this.#change<Name>('GET', from, undefined, options);
  }

  /** A call that makes no operation: it may be repeated, unless it is a POST. */
  async #change<Name extends keyof Routes>(
    method: Call['method'],
    to: string,
    body: object | undefined,
    options?: CallOptions,
  ): Promise<Answer<Name>> {
    const call = { method, path: to, body, repeatable: method === 'POST' ? 'ONCE' : 'ALWAYS' } as const;
    const end = await send(this.#connection, call, options);
    if (!end.isKnown) throw end.error;
    return end.body as Answer<Name>;
  }

  async *#list<Name extends keyof Routes>(
    from: string,
    { timeoutMs, signal, ...filter }: CallOptions & object,
  ): AsyncGenerator<ItemOf<Answer<Name>>, void, undefined> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filter)) if (value != null) query.set(name, String(value));
    const options = { timeoutMs, signal };
    for (;;) {
      const page = (await this.#read<Name>(`${from}?${query}`, options)) as { items: []; nextPageToken?: string };
      yield* page.items;
      if (page.nextPageToken === undefined) return;
      query.set('pageToken', page.nextPageToken);
    }
  }
}

function secretsOf(endpointId: string): string {
  return `${path('/webhook-endpoints', endpointId)}/signing-secrets`;
}

function path(collection: string, id: string): string {
  return `${collection}/${encodeURIComponent(id)}`;
}
