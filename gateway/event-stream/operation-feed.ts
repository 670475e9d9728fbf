import type { WatchOperationsResponse } from '../../proto/gen/holdfast/v1/operation_pb.js';
import { Operation } from '../resource/operation.ts';
import type { Feed } from './event-stream.ts';

/** Results as they are committed: an event for each. */
export const OPERATIONS: Feed<WatchOperationsResponse> = {
  event: 'operation',
  watch: (core, request, call) => core.operations.watchOperations(request, call),
  dataOf: ({ operation }) => operation && Operation.json(operation),
};
