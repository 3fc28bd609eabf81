FROM oven/bun:1.4.5 AS build
WORKDIR /src
# Bun asks the registry with the certificates of this image: where a proxy has its own, they belong there.
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
COPY package.json bun.lock ./
RUN bun install --frozen-lockfile --production
COPY . .
RUN bun build.ts && mkdir /data

FROM gcr.io/distroless/base-debian12:nonroot
COPY --from=build /src/dist/plantstore /usr/bin/plantstore
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
ENV PLANTSTORE_HOST=0.0.0.0 PLANTSTORE_DATABASE=/data/plants.db
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=6s --start-period=5s CMD ["/usr/bin/plantstore", "health"]
ENTRYPOINT ["/usr/bin/plantstore"]
CMD ["serve"]
