export interface Capture {
    /** Names the operation (UUIDv7); not secret */
    requestId: string;
    /** Names the operation (UUIDv7); not secret */
    holdRequestId: string;
    /** OK and KO are final; the others end in one of them */
    status: 'PENDING' | 'UNKNOWN' | 'NEEDS_REVIEW' | 'OK' | 'KO';
    /** Amount of this capture, minor units */
    amount: number;
    /** ISO 4217 code */
    currency: string;
    /** Whether it closed the hold; until it is OK, whether it was asked to. What was left is released */
    finalCapture: boolean;
    /** Proof of completion */
    captureDate?: string;
    /** Charged by this capture, minor units */
    amountCaptured?: number;
    /** Left of the hold right after it, minor units */
    amountRemaining?: number;
    /** Given back of the hold right after it, minor units */
    amountReleased?: number;
    /** The bank's reference */
    bankReference?: string;
    /** State of the hold */
    preauthorizationStatus?: 'IN_PROGRESS' | 'PARTIALLY_CAPTURED' | 'CAPTURED' | 'RELEASED' | 'EXPIRED' | 'FAILED';
    /** The processor's reference */
    reference?: string;
    processorCode?: string;
    /** The processor's words, for people */
    processorMessage?: string;
    /** Whether the card scheme took all of it back */
    reversed: boolean;
    /** What the card scheme took back of it and did not give again, minor units */
    amountReversed: number;
    /** When it was asked for */
    createdAt: string;
}
/** Charges a hold in full or in part */
export interface CapturePreauthorization {
    /** May be given; must be the merchant that the API key names */
    merchantId?: string;
    /** Handle of the hold, as the answer that placed it gave it. Sensitive: keep it like a password */
    preauthorizationId: string;
    /** Amount in minor units of the currency */
    amountToCapture: number;
    /** Close the hold with this capture; it does so anyway when the contract allows one */
    finalCapture?: boolean;
}
/** Pays an amount to a card (original credit transaction) */
export interface CreateOct {
    /** May be given; must be the merchant that the API key names */
    merchantId?: string;
    /** The customer's card token */
    tokenId: string;
    /** Amount in minor units of the currency */
    amount: number;
    /** ISO 4217 code that the contract allows */
    currency: string;
    /** One of the merchant's terminals */
    terminalId: string;
    /** The merchant's user */
    userId: string;
    /** The merchant's own reference */
    merchantReference?: string;
}
/** Asks for a hold; without tokenId the customer enters a card at checkoutUrl */
export interface CreatePreauthorization {
    /** May be given; must be the merchant that the API key names */
    merchantId?: string;
    /** The customer's card token */
    tokenId?: string;
    /** Amount in minor units of the currency */
    amount: number;
    /** ISO 4217 code that the contract allows */
    currency: string;
    /** One of the merchant's terminals */
    terminalId: string;
    /** The merchant's user */
    userId: string;
    /** The merchant's own reference */
    merchantReference?: string;
    /** Where the checkout page sends the customer afterwards */
    returnUrl?: string;
    /** Ask the checkout to generate a token for later use */
    saveCard?: boolean;
    /** The merchant's own data: at most 20 pairs, keys to 40 and values to 500 characters, 16 384 bytes in UTF-8 in all */
    metadata?: Record<string, (string & string) | ''>;
}
export interface CreatedSigningSecret {
    /** Names the secret (UUIDv7) */
    signingSecretId: string;
    /** When it was created */
    createdAt: string;
    /** When it was retired */
    retiredAt?: string;
    /** The secret; shown this once */
    signingSecret: string;
}
export interface Delivery {
    /** Names the delivery (UUIDv7) */
    deliveryId: string;
    /** The merchant */
    merchantId: string;
    /** Which of the merchant's endpoints: webhookUrl or internalUrl */
    endpointKind: 'WEBHOOK' | 'INTERNAL';
    /** The operation's, or the relayed notification's */
    requestId: string;
    /** Which message */
    kind: 'PAYMENT' | 'OCT';
    statusInfo: string;
    /** Where it stands */
    state: 'PENDING' | 'DELIVERED' | 'DEAD';
    attemptCount: number;
    /** When the next attempt is due */
    dueAt?: string;
    /** When it was created */
    createdAt: string;
    /** When it was delivered */
    deliveredAt?: string;
}
export interface DeliveryAttempt {
    number: number;
    /** When it started */
    startedAt: string;
    latencyMs: number;
    /** Absent = no answer */
    httpStatus?: number;
    /** Why there was no success */
    error?: string;
    /** Where it went; absent = there was no address */
    url?: string;
    /** The first 1 024 characters of the answer; signatures, tokens and card numbers are hidden */
    responseHead?: string;
}
/** What an attempt would send now */
export interface DeliveryContent {
    /** Absent = the merchant has no such endpoint */
    url?: string;
    /** Empty once the body is purged. Operators see only the beginning of each signature */
    headers: {
        name: string;
        value: string;
    }[];
    /** As it is sent and signed; from operators, tokens are hidden. Absent once purged */
    body?: string;
}
/** Newest first */
export interface DeliveryPage {
    items: Delivery[];
    /** pageToken of the next page; absent on the last. A page that has fewer items, or none, may have one */
    nextPageToken?: string;
}
export interface DeliveryWithAttempts {
    /** Names the delivery (UUIDv7) */
    deliveryId: string;
    /** The merchant */
    merchantId: string;
    /** Which of the merchant's endpoints: webhookUrl or internalUrl */
    endpointKind: 'WEBHOOK' | 'INTERNAL';
    /** The operation's, or the relayed notification's */
    requestId: string;
    /** Which message */
    kind: 'PAYMENT' | 'OCT';
    statusInfo: string;
    /** Where it stands */
    state: 'PENDING' | 'DELIVERED' | 'DEAD';
    attemptCount: number;
    /** When the next attempt is due */
    dueAt?: string;
    /** When it was created */
    createdAt: string;
    /** When it was delivered */
    deliveredAt?: string;
    /** The newest 50, oldest first */
    attempts: DeliveryAttempt[];
}
/** amount = amountCaptured + amountInFlight + amountRemaining + amountReleased */
export interface Hold {
    /** Names the operation (UUIDv7); not secret */
    requestId: string;
    /** State of the hold */
    status: 'IN_PROGRESS' | 'PARTIALLY_CAPTURED' | 'CAPTURED' | 'RELEASED' | 'EXPIRED' | 'FAILED';
    /** Amount held, minor units */
    amount: number;
    /** ISO 4217 code */
    currency: string;
    /** Captured so far, later reversed captures included, minor units */
    amountCaptured: number;
    /** Reserved by captures and releases without a result, minor units */
    amountInFlight: number;
    /** Still capturable, minor units */
    amountRemaining: number;
    /** Given back, minor units */
    amountReleased: number;
    /** Part of amountCaptured that the card scheme took back and did not give again, minor units */
    amountReversed: number;
    /** The merchant */
    merchantId: string;
    /** The terminal */
    terminalId: string;
    /** The merchant's user */
    userId: string;
    /** The merchant's own reference */
    merchantReference?: string;
    metadata?: Record<string, string>;
    /** Where the customer enters a card, while that is possible */
    checkoutUrl?: string;
    /** Until when */
    checkoutExpiresAt?: string;
    /** When it was asked for */
    createdAt: string;
    /** When the processor placed it */
    placedAt?: string;
    /** When it ends by itself */
    expiresAt?: string;
    /** When it reached a final state */
    closedAt?: string;
    /** Why the rest was given back: by the last capture, by the merchant or a void at the processor, or at the end of the period or of the authorization */
    releaseReason?: 'FINAL' | 'RELEASED' | 'EXPIRED';
    paymentMethodData?: PaymentMethodData;
    tokenData?: TokenData;
    /** The processor's reference */
    reference?: string;
    processorCode?: string;
    /** The processor's words, for people */
    processorMessage?: string;
    /** Handle that captures the hold. Sensitive: keep it like a password */
    preauthorizationId?: string;
}
/** Newest first */
export interface HoldPage {
    items: ListedHold[];
    /** pageToken of the next page; absent on the last. A page that has fewer items, or none, may have one */
    nextPageToken?: string;
}
export interface HoldWithCaptures {
    /** Names the operation (UUIDv7); not secret */
    requestId: string;
    /** State of the hold */
    status: 'IN_PROGRESS' | 'PARTIALLY_CAPTURED' | 'CAPTURED' | 'RELEASED' | 'EXPIRED' | 'FAILED';
    /** Amount held, minor units */
    amount: number;
    /** ISO 4217 code */
    currency: string;
    /** Captured so far, later reversed captures included, minor units */
    amountCaptured: number;
    /** Reserved by captures and releases without a result, minor units */
    amountInFlight: number;
    /** Still capturable, minor units */
    amountRemaining: number;
    /** Given back, minor units */
    amountReleased: number;
    /** Part of amountCaptured that the card scheme took back and did not give again, minor units */
    amountReversed: number;
    /** The merchant */
    merchantId: string;
    /** The terminal */
    terminalId: string;
    /** The merchant's user */
    userId: string;
    /** The merchant's own reference */
    merchantReference?: string;
    metadata?: Record<string, string>;
    /** Where the customer enters a card, while that is possible */
    checkoutUrl?: string;
    /** Until when */
    checkoutExpiresAt?: string;
    /** When it was asked for */
    createdAt: string;
    /** When the processor placed it */
    placedAt?: string;
    /** When it ends by itself */
    expiresAt?: string;
    /** When it reached a final state */
    closedAt?: string;
    /** Why the rest was given back: by the last capture, by the merchant or a void at the processor, or at the end of the period or of the authorization */
    releaseReason?: 'FINAL' | 'RELEASED' | 'EXPIRED';
    paymentMethodData?: PaymentMethodData;
    tokenData?: TokenData;
    /** The processor's reference */
    reference?: string;
    processorCode?: string;
    /** The processor's words, for people */
    processorMessage?: string;
    /** Handle that captures the hold. Sensitive: keep it like a password */
    preauthorizationId?: string;
    /** The newest 50, oldest first */
    captures: Capture[];
}
/** A hold without its handle */
export interface ListedHold {
    /** Names the operation (UUIDv7); not secret */
    requestId: string;
    /** State of the hold */
    status: 'IN_PROGRESS' | 'PARTIALLY_CAPTURED' | 'CAPTURED' | 'RELEASED' | 'EXPIRED' | 'FAILED';
    /** Amount held, minor units */
    amount: number;
    /** ISO 4217 code */
    currency: string;
    /** Captured so far, later reversed captures included, minor units */
    amountCaptured: number;
    /** Reserved by captures and releases without a result, minor units */
    amountInFlight: number;
    /** Still capturable, minor units */
    amountRemaining: number;
    /** Given back, minor units */
    amountReleased: number;
    /** Part of amountCaptured that the card scheme took back and did not give again, minor units */
    amountReversed: number;
    /** The merchant */
    merchantId: string;
    /** The terminal */
    terminalId: string;
    /** The merchant's user */
    userId: string;
    /** The merchant's own reference */
    merchantReference?: string;
    metadata?: Record<string, string>;
    /** Where the customer enters a card, while that is possible */
    checkoutUrl?: string;
    /** Until when */
    checkoutExpiresAt?: string;
    /** When it was asked for */
    createdAt: string;
    /** When the processor placed it */
    placedAt?: string;
    /** When it ends by itself */
    expiresAt?: string;
    /** When it reached a final state */
    closedAt?: string;
    /** Why the rest was given back: by the last capture, by the merchant or a void at the processor, or at the end of the period or of the authorization */
    releaseReason?: 'FINAL' | 'RELEASED' | 'EXPIRED';
    paymentMethodData?: PaymentMethodData;
    tokenData?: TokenData;
    /** The processor's reference */
    reference?: string;
    processorCode?: string;
    /** The processor's words, for people */
    processorMessage?: string;
}
export interface NoFields {
    /** May be given; must be the merchant that the API key names */
    merchantId?: string;
}
/** An original credit transaction */
export interface Oct {
    /** Names the operation (UUIDv7); not secret */
    requestId: string;
    /** OK and KO are final; the others end in one of them */
    status: 'PENDING' | 'UNKNOWN' | 'NEEDS_REVIEW' | 'OK' | 'KO';
    /** Amount paid, minor units */
    amount: number;
    /** ISO 4217 code */
    currency: string;
    /** The merchant */
    merchantId: string;
    /** The terminal */
    terminalId: string;
    /** The merchant's user */
    userId: string;
    /** The merchant's own reference */
    merchantReference?: string;
    paymentMethodData?: PaymentMethodData;
    /** The processor's reference */
    reference?: string;
    /** The bank's reference */
    bankReference?: string;
    processorCode?: string;
    /** The processor's words, for people */
    processorMessage?: string;
    /** When it was asked for */
    createdAt: string;
    /** When it became final */
    finalStateDate?: string;
}
export interface OpenCheckout {
    /** Names the operation (UUIDv7); not secret */
    requestId: string;
    status: 'IN_PROGRESS';
    /** Forward the customer there; carries a capability, do not log it */
    checkoutUrl: string;
    /** Until when it accepts a card */
    checkoutExpiresAt: string;
}
/** One operation with one final result */
export interface Operation {
    /** Names the operation (UUIDv7); not secret */
    requestId: string;
    operation: 'HOLD' | 'CAPTURE' | 'RELEASE' | 'EXPIRY' | 'REVERSAL' | 'REINSTATEMENT' | 'OCT';
    /** OK and KO are final; the others end in one of them */
    status: 'PENDING' | 'UNKNOWN' | 'NEEDS_REVIEW' | 'OK' | 'KO';
    /** The word of the path of its notification; the result's, so absent until then */
    statusInfo?: 'authorized' | 'captured' | 'released' | 'expired' | 'reversed' | 'reinstated' | 'paid' | 'declined' | 'failed';
    /** The hold's, capture's or OCT's, or what was given back, taken back or given again, minor units */
    amount: number;
    /** ISO 4217 code */
    currency: string;
    /** The merchant */
    merchantId: string;
    /** The terminal */
    terminalId?: string;
    /** The merchant's user */
    userId?: string;
    /** The merchant's own reference */
    merchantReference?: string;
    /** The hold that it belongs to */
    holdRequestId?: string;
    /** The capture that a reversal takes back, or a reinstatement gives again */
    captureRequestId?: string;
    /** The processor's reference */
    reference?: string;
    /** The bank's reference */
    bankReference?: string;
    processorCode?: string;
    /** The processor's words, for people */
    processorMessage?: string;
    /** When it became final */
    finalStateDate?: string;
}
/** Newest first */
export interface OperationPage {
    items: Operation[];
    /** pageToken of the next page; absent on the last. A page that has fewer items, or none, may have one */
    nextPageToken?: string;
}
/** The card, as far as it may be shown */
export interface PaymentMethodData {
    type?: string;
    brand?: string;
    last4?: string;
    expiryMonth?: number;
    expiryYear?: number;
}
/** A refusal (RFC 9457) */
export interface Problem {
    /** urn:holdfast:problem: and the code */
    type: string;
    /** What the code means */
    title: string;
    /** The HTTP status */
    status: number;
    /** What is wrong with this request; it quotes no value */
    detail: string;
    /** Which refusal it is, for programs */
    code: 'INVALID_REQUEST' | 'TOKEN_INVALID' | 'AMOUNT_EXCEEDS_HOLD' | 'UNAUTHENTICATED' | 'SIGNATURE_REQUIRED' | 'CARD_DECLINED' | 'FORBIDDEN' | 'PREAUTHORIZATION_NOT_FOUND' | 'OPERATION_NOT_FOUND' | 'NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'REQUEST_TIMEOUT' | 'HOLD_EXPIRED' | 'HOLD_RELEASED' | 'HOLD_CAPTURED' | 'HOLD_NOT_PLACED' | 'MULTIPLE_CAPTURES_NOT_ALLOWED' | 'HOLD_FROZEN' | 'CAPTURE_IN_FLIGHT' | 'NOT_SUPPORTED' | 'IDEMPOTENCY_IN_FLIGHT' | 'STREAM_TOKEN_TOO_OLD' | 'PRECONDITION_FAILED' | 'PAYLOAD_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'IDEMPOTENCY_KEY_REUSED' | 'RATE_LIMITED' | 'INTERNAL' | 'PROCESSOR_ERROR' | 'UNAVAILABLE' | 'RECONCILING';
    /** The operation that the refused request created, when it created one. IDEMPOTENCY_IN_FLIGHT: the operation of the first request. INTERNAL: ask for it as after 202 */
    requestId?: string;
    /** Each field at fault */
    errors?: {
        field: string;
        message: string;
    }[];
    /** The processor's code */
    processorCode?: string;
    /** The processor's words, for people */
    processorMessage?: string;
    /** AMOUNT_EXCEEDS_HOLD: what remains of the hold, minor units */
    amountRemaining?: number;
}
/** Makes due now what was not delivered */
export interface RecoverDeliveries {
    /** May be given; must be the merchant that the API key names */
    merchantId?: string;
    /** RFC 3339 time */
    since: string;
    /** RFC 3339 time */
    until?: string;
    /** Which of the merchant's endpoints: webhookUrl or internalUrl */
    endpointKind?: 'WEBHOOK' | 'INTERNAL';
}
export interface RecoveredDeliveries {
    /** How many are due now; 10 000: more may match, call again */
    count: number;
}
/** Gives back what remains of a hold, or cancels its checkout */
export interface ReleasePreauthorization {
    /** May be given; must be the merchant that the API key names */
    merchantId?: string;
    /** Handle of the hold, as the answer that placed it gave it. Sensitive: keep it like a password */
    preauthorizationId?: string;
    /** Names an operation (UUIDv7) */
    requestId?: string;
}
export interface ReleasedHold {
    /** Names the operation (UUIDv7); not secret */
    requestId: string;
    /** State of the hold */
    status: 'IN_PROGRESS' | 'PARTIALLY_CAPTURED' | 'CAPTURED' | 'RELEASED' | 'EXPIRED' | 'FAILED';
    /** Amount held, minor units */
    amount: number;
    /** ISO 4217 code */
    currency: string;
    /** Captured so far, later reversed captures included, minor units */
    amountCaptured: number;
    /** Reserved by captures and releases without a result, minor units */
    amountInFlight: number;
    /** Still capturable, minor units */
    amountRemaining: number;
    /** Given back, minor units */
    amountReleased: number;
    /** Part of amountCaptured that the card scheme took back and did not give again, minor units */
    amountReversed: number;
    /** The merchant */
    merchantId: string;
    /** The terminal */
    terminalId: string;
    /** The merchant's user */
    userId: string;
    /** The merchant's own reference */
    merchantReference?: string;
    metadata?: Record<string, string>;
    /** Where the customer enters a card, while that is possible */
    checkoutUrl?: string;
    /** Until when */
    checkoutExpiresAt?: string;
    /** When it was asked for */
    createdAt: string;
    /** When the processor placed it */
    placedAt?: string;
    /** When it ends by itself */
    expiresAt?: string;
    /** When it reached a final state */
    closedAt?: string;
    /** Why the rest was given back: by the last capture, by the merchant or a void at the processor, or at the end of the period or of the authorization */
    releaseReason?: 'FINAL' | 'RELEASED' | 'EXPIRED';
    paymentMethodData?: PaymentMethodData;
    tokenData?: TokenData;
    /** The processor's reference */
    reference?: string;
    processorCode?: string;
    /** The processor's words, for people */
    processorMessage?: string;
    /** Handle that captures the hold. Sensitive: keep it like a password */
    preauthorizationId?: string;
    /** Names the release, also of a checkout that was cancelled */
    releaseRequestId?: string;
}
export interface SetWebhookEndpoint {
    /** Where signed notifications go from now on; null = nowhere, and nothing is kept for later */
    webhookUrl: string | null;
    /** May be given; must be the merchant that the API key names */
    merchantId?: string;
}
/** What may be shown of a signing secret */
export interface SigningSecret {
    /** Names the secret (UUIDv7) */
    signingSecretId: string;
    /** When it was created */
    createdAt: string;
    /** When it was retired */
    retiredAt?: string;
}
/** The token that the checkout generated */
export interface TokenData {
    tokenId: string;
}
/** The merchant's webhook and the secrets that sign what it receives */
export interface WebhookEndpoint {
    /** Where signed notifications go; absent = nowhere */
    webhookUrl?: string;
    /** Why nothing is sent: it answered 410, an operator said so, it fails all the time */
    pause?: 'GONE' | 'OPERATOR' | 'BREAKER';
    /** When the breaker's pause is over */
    pausedUntil?: string;
    /** Failures since the last success */
    failureCount: number;
    /** Oldest first, retired ones included */
    signingSecrets: SigningSecret[];
    /** What may keep notifications from arriving, as far as the address shows it */
    warnings: string[];
}
export interface WholeDelivery {
    /** Names the delivery (UUIDv7) */
    deliveryId: string;
    /** The merchant */
    merchantId: string;
    /** Which of the merchant's endpoints: webhookUrl or internalUrl */
    endpointKind: 'WEBHOOK' | 'INTERNAL';
    /** The operation's, or the relayed notification's */
    requestId: string;
    /** Which message */
    kind: 'PAYMENT' | 'OCT';
    statusInfo: string;
    /** Where it stands */
    state: 'PENDING' | 'DELIVERED' | 'DEAD';
    attemptCount: number;
    /** When the next attempt is due */
    dueAt?: string;
    /** When it was created */
    createdAt: string;
    /** When it was delivered */
    deliveredAt?: string;
    /** The newest 50, oldest first */
    attempts: DeliveryAttempt[];
    content?: DeliveryContent;
    /** What it is about; absent when the merchant has no such operation */
    operation?: Operation;
    /** Absent = there are no earlier attempts */
    nextPageToken?: string;
}
/** What the routes take and answer, by operationId. */
export interface Routes {
    /** Place a hold */
    createPreauthorization: {
        path: Record<never, never>;
        query: Record<never, never>;
        body: CreatePreauthorization;
        answer: Hold | OpenCheckout;
    };
    /** List holds, newest first */
    listPreauthorizations: {
        path: Record<never, never>;
        query: {
            /** State of the hold */
            status?: 'IN_PROGRESS' | 'PARTIALLY_CAPTURED' | 'CAPTURED' | 'RELEASED' | 'EXPIRED' | 'FAILED';
            /** The merchant's user */
            userId?: string;
            /** One of the merchant's terminals */
            terminalId?: string;
            /** RFC 3339 time */
            createdFrom?: string;
            /** RFC 3339 time */
            createdTo?: string;
            /** RFC 3339 time */
            expiringBefore?: string;
            /** Items per page, 1 to 200 */
            pageSize?: number;
            /** nextPageToken of the page before */
            pageToken?: string;
        };
        body: undefined;
        answer: HoldPage;
    };
    /** Capture a hold, in full or in part */
    capturePreauthorization: {
        path: Record<never, never>;
        query: Record<never, never>;
        body: CapturePreauthorization;
        answer: Capture;
    };
    /** Give back what remains of a hold, or cancel its checkout */
    releasePreauthorization: {
        path: Record<never, never>;
        query: Record<never, never>;
        body: ReleasePreauthorization;
        answer: ReleasedHold;
    };
    /** Look up a hold with its captures */
    getPreauthorization: {
        path: {
            /** Names an operation (UUIDv7) */
            requestId: string;
        };
        query: Record<never, never>;
        body: undefined;
        answer: HoldWithCaptures;
    };
    /** Pay an amount to a card */
    createOct: {
        path: Record<never, never>;
        query: Record<never, never>;
        body: CreateOct;
        answer: Oct;
    };
    /** Look up an OCT, final or not */
    getOct: {
        path: {
            /** Names an operation (UUIDv7) */
            requestId: string;
        };
        query: Record<never, never>;
        body: undefined;
        answer: Oct;
    };
    /** List final results, newest first */
    listOperations: {
        path: Record<never, never>;
        query: {
            operation?: 'HOLD' | 'CAPTURE' | 'RELEASE' | 'EXPIRY' | 'REVERSAL' | 'REINSTATEMENT' | 'OCT';
            status?: 'OK' | 'KO';
            /** Names an operation (UUIDv7) */
            holdRequestId?: string;
            /** RFC 3339 time */
            finalFrom?: string;
            /** RFC 3339 time */
            finalTo?: string;
            /** Items per page, 1 to 200 */
            pageSize?: number;
            /** nextPageToken of the page before */
            pageToken?: string;
        };
        body: undefined;
        answer: OperationPage;
    };
    /** Follow results as they are committed */
    watchOperations: {
        path: Record<never, never>;
        query: Record<never, never>;
        body: undefined;
        answer: null;
    };
    /** Look up an operation, final or not */
    getOperation: {
        path: {
            /** Names an operation (UUIDv7) */
            requestId: string;
        };
        query: Record<never, never>;
        body: undefined;
        answer: Operation;
    };
    /** Look up where notifications go, and what signs them */
    getWebhookEndpoint: {
        path: Record<never, never>;
        query: Record<never, never>;
        body: undefined;
        answer: WebhookEndpoint;
    };
    /** Set where notifications go */
    setWebhookEndpoint: {
        path: Record<never, never>;
        query: Record<never, never>;
        body: SetWebhookEndpoint;
        answer: WebhookEndpoint;
    };
    /** Send a test notification to the webhook */
    sendTestNotification: {
        path: Record<never, never>;
        query: Record<never, never>;
        body: NoFields;
        answer: Delivery;
    };
    /** List deliveries of notifications, newest first */
    listOwnDeliveries: {
        path: Record<never, never>;
        query: {
            /** Which of the merchant's endpoints: webhookUrl or internalUrl */
            endpointKind?: 'WEBHOOK' | 'INTERNAL';
            /** Where it stands */
            state?: 'PENDING' | 'DELIVERED' | 'DEAD';
            /** The operation's, or the relayed notification's */
            requestId?: string;
            /** Names an operation (UUIDv7) */
            holdRequestId?: string;
            /** RFC 3339 time */
            createdFrom?: string;
            /** RFC 3339 time */
            createdTo?: string;
            /** Items per page, 1 to 200 */
            pageSize?: number;
            /** nextPageToken of the page before */
            pageToken?: string;
        };
        body: undefined;
        answer: DeliveryPage;
    };
    /** Send what was not delivered in a time now */
    recoverOwnDeliveries: {
        path: Record<never, never>;
        query: Record<never, never>;
        body: RecoverDeliveries;
        answer: RecoveredDeliveries;
    };
    /** Look up a delivery with its attempts, what it sends and where, and what it is about */
    getOwnDelivery: {
        path: {
            /** Names the delivery (UUIDv7) */
            deliveryId: string;
        };
        query: {
            /** Items per page, 1 to 200 */
            pageSize?: number;
            /** nextPageToken of the page before */
            pageToken?: string;
        };
        body: undefined;
        answer: WholeDelivery;
    };
    /** Send a delivery again */
    replayOwnDelivery: {
        path: {
            /** Names the delivery (UUIDv7) */
            deliveryId: string;
        };
        query: Record<never, never>;
        body: NoFields;
        answer: DeliveryWithAttempts;
    };
    /** Add a second signing secret, shown once */
    addOwnSigningSecret: {
        path: Record<never, never>;
        query: Record<never, never>;
        body: NoFields;
        answer: CreatedSigningSecret;
    };
    /** End a signing secret; not the last one */
    retireOwnSigningSecret: {
        path: {
            /** Names the secret (UUIDv7) */
            signingSecretId: string;
        };
        query: Record<never, never>;
        body: undefined;
        answer: null;
    };
}
