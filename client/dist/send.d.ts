/** How often a call may be repeated without a key. ONCE: only after an answer that says that nothing was done. */
export type Repeatable = 'ALWAYS' | 'KEYED' | 'ONCE';
export interface Call {
    readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
    readonly path: string;
    readonly body?: object | undefined;
    readonly repeatable: Repeatable;
    /** Only with KEYED. */
    readonly idempotencyKey?: string | undefined;
    /** Headers that sign one try. */
    readonly sign?: ((body: string, idempotencyKey: string) => Record<string, string>) | undefined;
}
/** What the caller may say of a call. */
export interface CallOptions {
    /** How long it may take with all tries, milliseconds; default 60 000. */
    readonly timeoutMs?: number;
    /** Ends it earlier. */
    readonly signal?: AbortSignal;
}
/** One try, for a log of the caller's own: never a key, a body or a query. */
export interface TryReport {
    readonly method: string;
    readonly path: string;
    readonly try: number;
    /** 0 = no answer. */
    readonly status: number;
    readonly code?: string | undefined;
    readonly requestId?: string | undefined;
    readonly tookMs: number;
}
export interface Connection {
    readonly baseUrl: string;
    readonly apiKey: string;
    readonly fetch: typeof globalThis.fetch;
    readonly onRequest?: ((report: TryReport) => void) | undefined;
}
/** The end of a call: an answer, or nothing is known of it when the time was over. */
export type End = {
    readonly isKnown: true;
    readonly body: unknown;
    readonly replayed: boolean;
} | {
    readonly isKnown: false;
    readonly requestId: string | undefined;
};
/** Sends a call until there is an answer that is final. Throws HoldfastError when it is refused, or when nothing of it was done in time. */
export declare function send(connection: Connection, call: Call, options?: CallOptions): Promise<End>;
