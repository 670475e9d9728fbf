import type { Interceptor } from '@connectrpc/connect';
import {
  type Preauthorization,
  PreauthorizationSchema,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { callerKey } from './caller.ts';

/**
 * Clears preauthorizationId, checkoutUrl and generatedTokenId in every answer to an operator. Operators capture by requestId, which is
 * audited; with these they could act outside of the audit log.
 */
export const hidesHandles: Interceptor = (next) => async (request) => {
  const response = await next(request);
  if (response.stream || request.contextValues.get(callerKey) !== 'operator') return response;
  const answer = response.message as unknown as Record<string, Preauthorization | Preauthorization[] | undefined>;
  for (const field of request.method.output.fields) {
    if (field.message?.typeName !== PreauthorizationSchema.typeName) continue;
    for (const hold of [answer[field.localName] ?? []].flat()) {
      hold.preauthorizationId = '';
      hold.checkoutUrl = '';
      hold.generatedTokenId = '';
    }
  }
  return response;
};
