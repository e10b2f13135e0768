/* Stand-ins for the classes of Android's NDK binder library that the adapter uses. */
#ifndef TESTS_NDK_STAND_IN_H
#define TESTS_NDK_STAND_IN_H

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

enum { EX_NONE = 0, EX_SERVICE_SPECIFIC = -8 };

namespace ndk
{

class ScopedAStatus
{
  public:
    ScopedAStatus() = default;
    static ScopedAStatus ok() { return {}; }
    static ScopedAStatus fromServiceSpecificErrorWithMessage(int32_t code, const char *text)
    {
        ScopedAStatus s;
        s.exception_ = EX_SERVICE_SPECIFIC;
        s.code_ = code;
        s.text_ = text;
        return s;
    }
    bool isOk() const { return exception_ == EX_NONE; }
    int32_t getExceptionCode() const { return exception_; }
    int32_t getServiceSpecificError() const { return code_; }
    const char *getMessage() const { return text_.c_str(); }

  private:
    int32_t exception_ = EX_NONE, code_ = 0;
    std::string text_;
};

class ScopedFileDescriptor
{
  public:
    ScopedFileDescriptor() = default;
    explicit ScopedFileDescriptor(int fd) : fd_(fd) {}
    ScopedFileDescriptor(ScopedFileDescriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1))
    {
    }
    ScopedFileDescriptor &operator=(ScopedFileDescriptor &&other) noexcept
    {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~ScopedFileDescriptor()
    {
        if (fd_ >= 0)
            close(fd_);
    }
    int get() const { return fd_; }

  private:
    int fd_ = -1;
};

class SharedRefBase
{
  public:
    virtual ~SharedRefBase() = default;
    template <class T, class... Args> static std::shared_ptr<T> make(Args &&...args)
    {
        return std::make_shared<T>(std::forward<Args>(args)...);
    }
};

} // namespace ndk

#endif
