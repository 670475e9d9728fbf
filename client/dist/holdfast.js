/**
 * The service for a merchant's backend. A write is done at most once, however often it is sent; what cannot be known is answered as
 * `outcome: 'unknown'`, never as a failure.
 */
import { randomUUID } from 'node:crypto';
import { HoldfastError } from './refusal.js';
import { send } from './send.js';
import { captureSignature } from './sign-capture.js';
import { watch } from './watch.js';
export { HoldfastError };
/** The merchant's routes, one method each. Every method throws HoldfastError when the call is refused. */
export class Holdfast {
    #connection;
    #signer;
    constructor({ baseUrl, apiKey, signCaptures, onRequest, fetch = globalThis.fetch }) {
        const { origin, pathname } = new URL(baseUrl);
        this.#connection = { baseUrl: `${origin}${pathname.replace(/\/$/, '')}`, apiKey, fetch, onRequest };
        this.#signer = signCaptures;
    }
    /** Holds (preauthorizations). */
    holds = {
        /** Places a hold; without `tokenId` it answers a `checkoutUrl`. */
        create: (hold, options) => this.#write('/preauthorization', hold, options),
        /** Charges a hold, in full or in part. */
        capture: (capture, options) => this.#write('/preauthorization/authorization', capture, options),
        /** Gives back what remains of a hold, or cancels its checkout. */
        release: (release, options) => this.#write('/preauthorization/release', release, options),
        /** Looks up a hold with its newest captures. */
        get: (requestId, options) => this.#read(path('/preauthorization', requestId), options),
        /** Iterates over holds, newest first. */
        list: (filter = {}) => this.#list('/preauthorization', filter),
    };
    /** Payments to a card. */
    octs = {
        create: (oct, options) => this.#write('/oct', oct, options),
        get: (requestId, options) => this.#read(path('/oct', requestId), options),
    };
    /** Operations: every attempt with its one final result. */
    operations = {
        get: (requestId, options) => this.#read(path('/operations', requestId), options),
        /** Iterates over final results, newest first. */
        list: (filter = {}) => this.#list('/operations', filter),
        /** Iterates over results as they become final, in their order, for ever: it resumes by itself and skips none. */
        watch: (options) => watch(this.#connection, '/operations/stream', options),
    };
    /** Deliveries of notifications. These and what follows need an API key that manages the webhook. */
    deliveries = {
        get: (deliveryId, options) => this.#read(path('/deliveries', deliveryId), options),
        /** Iterates over deliveries, newest first. */
        list: (filter = {}) => this.#list('/deliveries', filter),
        /** Makes due now what was not delivered since a time. */
        recover: (range, options) => this.#change('POST', '/deliveries/recover', range, options),
        /** Sends a delivery again. */
        replay: (deliveryId, options) => this.#change('POST', `${path('/deliveries', deliveryId)}/replay`, {}, options),
    };
    /** Where notifications go. */
    webhookEndpoint = {
        get: (options) => this.#read('/webhook-endpoint', options),
        /** Sets the address; null = none. */
        set: (endpoint, options) => this.#change('PUT', '/webhook-endpoint', endpoint, options),
        /** Sends a test notification. */
        test: (options) => this.#change('POST', '/webhook-endpoint/test', {}, options),
    };
    /** What signs notifications. */
    signingSecrets = {
        /** Adds a second secret; it is shown once. */
        add: (options) => this.#change('POST', '/signing-secrets', {}, options),
        /** Ends a secret; not the last one. */
        retire: (signingSecretId, options) => this.#change('DELETE', path('/signing-secrets', signingSecretId), undefined, options),
    };
    async #write(to, body, { idempotencyKey = randomUUID(), ...options } = {}) {
        const signer = to === '/preauthorization/authorization' ? this.#signer : undefined;
        const sign = signer && ((text, key) => captureSignature(signer, text, key));
        const call = { method: 'POST', path: to, body: body, repeatable: 'KEYED', idempotencyKey, sign };
        const end = await send(this.#connection, call, options);
        if (!end.isKnown)
            return { outcome: 'unknown', idempotencyKey, requestId: end.requestId };
        return { ...end.body, outcome: 'done', idempotencyKey, replayed: end.replayed };
    }
    async #read(from, options) {
        return this.#ask({ method: 'GET', path: from, repeatable: 'ALWAYS' }, options);
    }
    /** A change of the webhook: PUT and DELETE may be repeated, a POST may not. */
    async #change(method, to, body, options) {
        const repeatable = method === 'POST' ? 'ONCE' : 'ALWAYS';
        return this.#ask({ method, path: to, body, repeatable }, options);
    }
    async #ask(call, options) {
        const end = await send(this.#connection, call, options);
        if (!end.isKnown)
            throw new HoldfastError('NO_ANSWER', 'no answer in time');
        return end.body;
    }
    async *#list(from, { timeoutMs, signal, ...filter }) {
        const options = { ...(timeoutMs !== undefined && { timeoutMs }), ...(signal && { signal }) };
        const query = new URLSearchParams();
        for (const [name, value] of Object.entries(filter))
            if (value != null)
                query.set(name, String(value));
        for (;;) {
            const page = (await this.#read(`${from}?${query}`, options));
            yield* page.items;
            if (page.nextPageToken === undefined)
                return;
            query.set('pageToken', page.nextPageToken);
        }
    }
}
function path(collection, id) {
    return `${collection}/${encodeURIComponent(id)}`;
}
