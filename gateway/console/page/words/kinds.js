/** The name of a kind of operation. */
export function nameOfKind(kind) {
  return kind === 'OCT' ? kind : sentence(kind);
}

/** How an operation ended: the word of its success, or what has failed. */
export function endOf({ operation, statusInfo }) {
  const hasFailed = statusInfo === 'declined' || statusInfo === 'failed';
  return hasFailed ? `${nameOfKind(operation)} ${statusInfo}` : sentence(statusInfo);
}

function sentence(word) {
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();
}

/** The hold that an operation belongs to: a hold's own requestId, or undefined where there is none. */
export function holdOf({ requestId, operation, holdRequestId }) {
  return holdRequestId || (operation === 'HOLD' ? requestId : undefined);
}
