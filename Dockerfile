# Built with the development tools in one stage, run without them in another: the image holds no compiler.

FROM node:24.19.0-bookworm-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df AS build
WORKDIR /app
# The packages first: this layer stays as long as the lock file does. The sources are not there yet, so the
# `prepare` script, which builds, must not run.
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY jobs jobs
RUN npm run build

FROM node:24.19.0-bookworm-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json ./
# No package needs a script: DuckDB's library comes as a package of this platform. --ignore-scripts also keeps
# `prepare` from asking for the compiler that is left out here.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force
# The SQL is read while it runs, and docs holds the configuration's JSON Schema.
COPY --from=build /app/dist dist
COPY sql sql
COPY docs docs

# The configuration and the warehouse, which outlive the container. Owned by the user before it becomes a volume,
# for a new volume takes over its owner.
RUN mkdir /data && chown node:node /data
VOLUME /data
WORKDIR /data
USER node

# Not healthy: the last night was not green, or one was missed. `indexhouse status` says why. Healthy before the first one.
HEALTHCHECK --interval=10m --timeout=1m CMD ["node", "/app/dist/src/app/cli/indexhouse.cjs", "status", "--quiet"]

# Node itself gets SIGTERM: a sync that runs leaves its journal, and the next one goes on from there. Give it time to
# commit what it is committing: docker stop --time 60.
ENTRYPOINT ["node", "/app/dist/src/app/cli/indexhouse.cjs"]
CMD ["schedule"]
