# One image for every process; the command says which.
FROM node:24.21.0-bookworm-slim
WORKDIR /holdfast
COPY package.json package-lock.json .npmrc ./
# The image brings Node and talks to a PostgreSQL of its own: no embedded one, no tools.
RUN npm ci --omit=dev --omit=optional --ignore-scripts
COPY proto proto
COPY platform platform
COPY client client
COPY services services
COPY gateway gateway
# The guides that the gateway serves.
COPY docs/merchants.md docs/verify-webhooks.md docs/signed-captures.md docs/
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
CMD ["node", "services/core/index.ts"]
