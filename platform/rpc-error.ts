import type { status } from '@grpc/grpc-js';

/** A call to an adapter that ends with an error status instead of an answer: to core its outcome is unknown. */
export class RpcError extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}
