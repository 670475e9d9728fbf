import type { Connection } from './send.ts';
/** An event of a stream: what it says, and the token to resume after it. */
export interface StreamEvent<T> {
    readonly id: string;
    readonly data: T;
}
export interface WatchOptions {
    /** The `id` of the last event that was handled; absent = from now on. */
    readonly after?: string | undefined;
    readonly signal?: AbortSignal;
}
/**
 * Follows a stream of Server-Sent Events, and resumes by itself after the last event: it skips none. Ends when the signal aborts. Throws
 * HoldfastError when it cannot resume: STREAM_TOKEN_TOO_OLD, or what is wrong with the key.
 */
export declare function watch<T>(connection: Connection, path: string, { after, signal }?: WatchOptions): AsyncGenerator<StreamEvent<T>, void, undefined>;
