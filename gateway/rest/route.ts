import type { Context } from 'koa';
import { z } from 'zod';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import type { StreamOptions } from '../event-stream/event-stream.ts';
import type { HandledRoute, RouteFor, Schemas } from '../http/route.ts';
import type { Exporter } from '../resource/csv.ts';
import { ownMerchantId } from '../resource/request-fields.ts';
import { routeDefaults } from '../resource/route-defaults.ts';
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
export function restRoute<Q extends z.ZodObject, P extends Schemas, B extends z.ZodType>(
  route: RouteFor<RestCall, Q, P, B> & Pick<RestRoute, 'checkBytes'>,
): RestRoute {
  return { credential: 'apiKey', ...routeDefaults(route), ...route };
}

/** Describes a merchant's route that creates an operation. */
export function restWrite<Q extends z.ZodObject, P extends Schemas, B extends z.ZodType>(
  route: RouteFor<RestCall & { readonly name: OperationName }, Q, P, B> & Pick<RestRoute, 'checkBytes'>,
): RestRoute {
  return restRoute(createsOperation('/operations/{requestId}', route));
}
