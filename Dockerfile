# The image: `docker build -t plantstore .`; for another processor, `--platform linux/arm64` or `--build-arg TARGETARCH=arm64`.
# To have it name its commit: `--build-arg REVISION=$(git rev-parse HEAD)`.
FROM --platform=$BUILDPLATFORM oven/bun:1.4.5 AS build
WORKDIR /src
# Bun asks the registry with the certificates of this image: where a proxy has its own, they belong there.
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
COPY package.json bun.lock ./
RUN bun install --frozen-lockfile --production
COPY . .
# amd64 or arm64, from the platform that is asked for. Bun builds for both; nothing is emulated.
ARG TARGETARCH
ARG REVISION=unknown
RUN bun build.ts --commit "$REVISION" ${TARGETARCH:+--target bun-linux-$TARGETARCH} --outfile /image/plantstore && mkdir /image/data

FROM gcr.io/distroless/base-debian12:nonroot
ARG VERSION=1.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title=plantstore \
  org.opencontainers.image.description="A durable, authenticated HTTP store of plants in one executable." \
  org.opencontainers.image.version=$VERSION \
  org.opencontainers.image.revision=$REVISION \
  org.opencontainers.image.licenses=MIT \
  org.opencontainers.image.base.name=gcr.io/distroless/base-debian12:nonroot
COPY --from=build /image/plantstore /usr/bin/plantstore
COPY --from=build --chown=65532:65532 /image/data /data
USER 65532:65532
ENV PLANTSTORE_HOST=0.0.0.0 PLANTSTORE_DATABASE=/data/plants.db
# Empty ones count as unset: not those of the host, which podman --env-host passes on.
ENV BUN_BE_BUN= BUN_OPTIONS= BUN_INSPECT=
# Mount a volume or a folder here, never plants.db alone: the newest plants are in the file beside it.
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=6s --start-period=5s CMD ["/usr/bin/plantstore", "health"]
ENTRYPOINT ["/usr/bin/plantstore"]
CMD ["serve"]
