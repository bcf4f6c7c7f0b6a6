# The live service. Node runs the TypeScript sources directly, so there is nothing to build but the dependencies.

# Node 24.18.1; the digest names the index for amd64, arm64 and ppc64le. A new one comes with each release of Node.
ARG BASE=node:24-bookworm-slim@sha256:235600a8101ab264e117b1768e925532262668dc9b581ef1dd7d96ced463b8e7
FROM ${BASE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Neither the sandbox's chain, another Node nor a tool of development belongs into the image. `--omit=optional` would also leave
# out optional dependencies of dependencies, such as the binary that draws pictures, and `--omit=dev` installs TypeScript, because
# viem would use it where it is.
RUN npm pkg delete optionalDependencies devDependencies overrides \
    && npm ci --ignore-scripts \
    && npm cache clean --force

FROM ${BASE}
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY bin ./bin
COPY contracts ./contracts
COPY deploy/continuous-copy.sh ./deploy/continuous-copy.sh
COPY docs ./docs
COPY sdk/README.md ./sdk/README.md
COPY sdk-python/README.md ./sdk-python/README.md
COPY sdk/examples/README.md ./sdk/examples/README.md
COPY src ./src
# A named volume takes over the owner of the folder it is mounted on.
RUN mkdir /data /backups && chown node:node /data /backups
USER node
VOLUME /data
EXPOSE 3000 3001
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "bin/healthcheck.js"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--max-semi-space-size=16", "bin/card-checkout.js"]
CMD ["start", "--live"]
