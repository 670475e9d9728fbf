import type { status } from '@grpc/grpc-js';

/** A call that ends with an error status instead of an answer. */
export class RpcError extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}
