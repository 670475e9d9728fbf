import type { Context } from 'koa';
import { z } from 'zod';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import type { StreamOptions } from '../event-stream/event-stream.ts';
import type { HandledRoute } from '../http/route.ts';
import type { Exporter } from '../resource/csv.ts';
import { ownMerchantId } from '../resource/request-fields.ts';
import { type Described, describe, type Target } from '../resource/route.ts';
import { createsOperation, type OperationName } from '../resource/write-operation.ts';
import type { InFlightLimits } from './limit-in-flight.ts';

/** What a merchant's handler is called with, besides what its schemas read. */
export interface RestCall extends StreamOptions {
  readonly ctx: Context;
  /** The merchant whose API key the request carries. */
  readonly merchantId: string;
  readonly inFlight: InFlightLimits;
  readonly exporter: Exporter;
  /** Options of a call to core in the name of the request's API key. */
  readonly asKey: GrpcCall;
}

/** A route in REST_ROUTES. */
export interface RestRoute extends HandledRoute {
  /** Checks the raw body before it is parsed. Throws Problem to refuse it. */
  readonly checkBytes?: (call: RestCall, bytes: Buffer) => Promise<void>;
}

/** The body of a command without fields; it need not be sent. */
export const NoFields = z.strictObject({ merchantId: ownMerchantId }).meta({ id: 'NoFields' });

/** Describes a merchant's route. */
export function restRoute<T extends Target, Q extends z.ZodObject, B extends z.ZodType>(
  tag: string,
  target: T,
  route: Described<RestCall, T, Q, B> & Pick<RestRoute, 'checkBytes'>,
): RestRoute {
  return describe('apiKey', tag, target, route);
}

/** Describes a merchant's route that creates an operation. */
export function restWrite<T extends Target, Q extends z.ZodObject, B extends z.ZodType>(
  tag: string,
  target: T,
  route: Described<RestCall & { readonly name: OperationName }, T, Q, B> & Pick<RestRoute, 'checkBytes'>,
): RestRoute {
  return describe('apiKey', tag, target, createsOperation('/operations/{requestId}', route));
}
